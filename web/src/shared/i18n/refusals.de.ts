/** Meldungen des Dienstes zu ungültigen Feldern auf Deutsch. Links steht der englische Satz des Dienstes. */
import type { Refusals } from "./refusals";

export const refusals: Refusals = [
  ["is required", "Erforderlich."],
  ["is required with {}", "Zusammen mit {} erforderlich."],
  ["must not be empty", "Darf nicht leer sein."],
  ["must have 1 to 255 characters", "Muss 1 bis 255 Zeichen lang sein."],
  ["must have at most {} characters", "Darf höchstens {} Zeichen lang sein."],
  ["must have at most {} items", "Höchstens {} Einträge sind erlaubt."],
  ["must not contain the NUL character", "Das Zeichen NUL ist nicht erlaubt."],
  ["must not hold the NUL character", "Das Zeichen NUL ist nicht erlaubt."],
  ["must not hold control characters", "Steuerzeichen sind nicht erlaubt."],
  ["must not hold line ends or other control characters", "Zeilenumbrüche und andere Steuerzeichen sind nicht erlaubt."],
  ["must not hold tabs, line ends or other control characters", "Tabulatoren, Zeilenumbrüche und andere Steuerzeichen sind nicht erlaubt."],
  ["must not hold colons or control characters", "Doppelpunkte und Steuerzeichen sind nicht erlaubt."],
  ["must be a whole number", "Muss eine ganze Zahl sein."],
  ["must be a whole number from 1 to 65535", "Muss eine ganze Zahl von 1 bis 65535 sein."],
  ["must be a number from {} to {}", "Muss eine Zahl von {} bis {} sein."],
  ["must be a whole number from {} to {}", "Muss eine ganze Zahl von {} bis {} sein."],
  ["must be a whole number from 0 to {}", "Muss eine ganze Zahl von 0 bis {} sein."],
  ["must be a whole number of seconds from {} to {}", "Muss eine ganze Zahl von {} bis {} Sekunden sein."],

  ["must be an email address such as you@example.com", "Muss eine E-Mail-Adresse wie sie@example.com sein."],
  ["must hold at least one address", "Geben Sie mindestens eine Adresse ein."],
  ["must have at most {} addresses", "Höchstens {} Adressen sind erlaubt."],
  ["must have {} to {} characters", "Muss {} bis {} Zeichen lang sein."],
  ["must not be the email address", "Darf nicht die E-Mail-Adresse sein."],
  ["is one of the passwords that are guessed first; choose another", "Dieses Passwort ist zu verbreitet. Wählen Sie ein anderes."],
  ["must be the same as password1", "Die Passwörter stimmen nicht überein."],

  [
    "must be an address such as https://example.com/path, http or https",
    "Muss eine URL wie https://example.com/pfad sein, mit http oder https.",
  ],
  ["its host {}", "Der Host ist ungültig. {}"],
  ["must have a port from 1 to 65535", "Der Port muss zwischen 1 und 65535 liegen."],
  [
    "must not hold a user name or password; send them as http.username and http.password",
    "Benutzername und Passwort gehören nicht in die URL, sondern in die Felder der Authentifizierung.",
  ],
  [
    "must not hold a user name or password; send an Authorization header instead",
    "Benutzername und Passwort gehören nicht in die URL. Verwenden Sie einen Authorization-Header.",
  ],
  ["must be a name or an address", "Muss ein Name oder eine Adresse sein."],
  [
    "must be a name such as example.com or an IP address, without scheme, port or path",
    "Muss ein Name wie example.com oder eine IP-Adresse sein, ohne Schema, Port und Pfad.",
  ],
  [
    "must not have a part that starts with a hyphen or contains a backtick",
    "Kein Teil darf mit einem Bindestrich beginnen oder einen Gravis (`) enthalten.",
  ],
  [
    "has a part between its dots that is empty or longer than {} characters",
    "Ein Teil zwischen den Punkten ist leer oder länger als {} Zeichen.",
  ],
  [
    "must be an IP address, or one with a port such as 1.1.1.1:53 or [::1]:53",
    "Muss eine IP-Adresse sein, auch mit Port wie 1.1.1.1:53 oder [::1]:53.",
  ],
  ["must be set for a monitor of type http_keyword", "Dieser Typ erfordert ein Stichwort."],
  ["must name at least one code, such as 200-299", "Geben Sie mindestens einen Code an, etwa 200-299."],
  ["must have at most {} codes and ranges", "Höchstens {} Codes und Bereiche sind erlaubt."],
  [
    "must be codes from 100 to 599 or ascending ranges of them, such as 200-299, 301",
    "Müssen Codes von 100 bis 599 oder aufsteigende Bereiche sein, etwa 200-299, 301.",
  ],
  ["must be a JSON object as text, or lines such as Name: value", "Muss ein JSON-Objekt als Text sein, oder Zeilen wie Name: Wert."],
  [
    "must be a JSON object whose values are texts, numbers or booleans",
    "Muss ein JSON-Objekt sein, dessen Werte Texte, Zahlen oder Wahrheitswerte sind.",
  ],
  ["must have at most {} headers", "Höchstens {} Header sind erlaubt."],
  ["has a header name with characters that names cannot have", "Der Name eines Headers enthält unzulässige Zeichen."],
  ["has a line end or control character in {}", "{} enthält einen Zeilenumbruch oder ein Steuerzeichen."],
  ["must not set {}: it follows from the body", "{} darf nicht gesetzt werden: Der Header ergibt sich aus dem Body."],
  ["must not set {}: Wakeful does", "{} darf nicht gesetzt werden: Wakeful setzt den Header selbst."],
  ["must be at most {} tags", "Höchstens {} Tags sind erlaubt."],
  ["must be tags of at most {} characters", "Jedes Tag darf höchstens {} Zeichen lang sein."],
  ["must be at most {} regions", "Höchstens {} Regionen sind erlaubt."],
  ["must not be more than there are regions", "Darf nicht größer als die Zahl der Regionen sein."],
  ["names a notifier that this team does not have", "Einen der Melder gibt es in diesem Team nicht."],

  ["names notifiers that do not exist: {}", "Diese Melder gibt es nicht: {}"],

  [
    "The notifier is still linked to a monitor; remove it there first.",
    "Der Melder wird noch von einem Monitor verwendet. Entfernen Sie ihn dort zuerst.",
  ],
  ["The notifier is still linked to {}; remove it there first.", "Der Melder wird noch verwendet von: {}. Entfernen Sie ihn dort zuerst."],
  ["The message was not taken: {}.", "Der Empfänger hat die Nachricht abgelehnt: {}."],
  ["The plan {} allows {}; {}.", "Der Tarif {} erlaubt {}; {}."],
  ["intervals of {} s or more", "Intervalle ab {} s"],
  ["{n} active monitors", "{} aktive Monitore"],
  ["{n} users", "{} Benutzer"],
  ["the next plan with room is {}", "der nächste passende Tarif ist {}"],
  ["no plan allows more", "mehr ist in keinem Tarif möglich"],

  ["must be whsec_ and the base64 of 24 to 64 random bytes", "Muss aus whsec_ und 24 bis 64 zufälligen Bytes in Base64 bestehen."],

  ["must be the digits of a card number", "Darf nur die Ziffern einer Kartennummer enthalten."],
  ["is not a card number: check for a mistyped digit", "Das ist keine gültige Kartennummer. Prüfen Sie die Ziffern."],
  ["must be the 3 or 4 digits of the card's code", "Muss die Prüfziffer mit 3 oder 4 Stellen sein."],
  ["must be a month from 1 to 12", "Muss ein Monat von 1 bis 12 sein."],
  ["must be a year of four digits", "Muss ein Jahr mit vier Ziffern sein."],
  ["and expiryMonth lie in the past: the card has expired", "Die Karte ist abgelaufen."],
];
