/** Meldungen des Dienstes auf Deutsch. Bei ungültigen Feldern steht links der englische Satz des Dienstes. */
import type { ServiceMessages } from "./service";

/** Fehler, die nur eine veraltete oder fremde Seite bekommt. */
const protocolErrors = [
  "bad_signature",
  "incomplete_body",
  "malformed_json",
  "malformed_query",
  "method_not_allowed",
  "no_such_path",
  "too_many_headers",
  "unsupported_media_type",
];

const codes: ServiceMessages["codes"] = {
  not_authenticated: "Ihre Sitzung ist beendet. Melden Sie sich wieder an.",
  bad_credentials: "Die E-Mail-Adresse oder das Passwort ist falsch.",
  mfa_required: "Geben Sie den Code aus Ihrer Authenticator-App ein.",
  mfa_invalid:
    "Der Code ist falsch oder wurde bereits verwendet. Versuchen Sie den nächsten oder verwenden Sie einen Wiederherstellungscode.",
  mfa_already_on: "Die Zwei-Faktor-Authentifizierung ist bereits aktiviert.",
  mfa_not_set_up: "Diese Einrichtung ist abgelaufen. Beginnen Sie noch einmal.",
  bad_token: "Dieser Link ist ungültig oder abgelaufen. Fordern Sie einen neuen an.",
  email_taken: "Diese E-Mail-Adresse wird bereits verwendet.",
  forbidden: "Ihre Rolle erlaubt das nicht. Wenden Sie sich an einen Inhaber Ihres Teams.",
  key_scope: "Der Umfang dieses API-Schlüssels erlaubt das nicht. Verwenden Sie einen anderen.",
  suspended: "Ihre Mitgliedschaft in diesem Team ist ausgesetzt. Wenden Sie sich an einen Inhaber des Teams.",
  no_team: "Sie sind in keinem Team. Bitten Sie einen Inhaber, Sie hinzuzufügen.",
  limit_reached: "Die Höchstzahl ist erreicht. Löschen Sie zuerst etwas, das nicht mehr gebraucht wird.",
  last_owner: "Das Team hätte keinen Inhaber mehr. Machen Sie zuerst jemand anderen zum Inhaber.",
  bad_invitation: "Diese Einladung ist ungültig, abgelaufen oder schon benutzt. Bitten Sie um eine neue.",
  login_needed: "Für diese Adresse gibt es schon ein Konto. Melden Sie sich an und nehmen Sie dann die Einladung an.",
  account_not_managed:
    "Nur die Person selbst kann ihre E-Mail-Adresse oder ihr Passwort ändern, weil sie eingeladen wurde oder in einem weiteren Team ist.",
  already_member: "Diese Person ist schon Mitglied des Teams.",
  other_account: "Die Einladung gilt für eine andere Adresse. Melden Sie sich ab und öffnen Sie den Link noch einmal.",
  nodes_too_old: "Ein Server mit einer früheren Version läuft noch. Aktualisieren Sie zuerst alle.",
  signup_closed: "Die Registrierung ist auf diesem Server deaktiviert. Wenden Sie sich an Ihr Team oder den Betreiber.",
  confirm_email: "Wir haben einen Link an diese Adresse geschickt. Öffnen Sie ihn, um Ihr Konto anzulegen.",
  too_many_requests: "Zu viele Versuche. Bitte warten Sie einen Moment.",
  unavailable: "Der Server ist gerade überlastet. Es wurde nichts geändert; versuchen Sie es erneut.",
  internal:
    "Auf dem Server ist ein Fehler aufgetreten. Versuchen Sie es erneut. Besteht das Problem weiter, wenden Sie sich an den Betreiber.",
  not_found: "Das gibt es in diesem Team nicht.",
  misdirected_request: "Dieser Server ist unter dieser Adresse nicht erreichbar. Öffnen Sie ihn unter seiner öffentlichen Adresse.",
  bad_card_token: "Ihre Kartendaten sind abgelaufen. Geben Sie die Karte noch einmal ein.",
  alert_over: "Der Alarm ist beendet oder gelöst. Laden Sie die Liste neu.",
  monitor_inactive: "Der Monitor ist pausiert. Setzen Sie ihn zuerst fort.",
  no_push_url: "Dieser Monitor hat keine Push-URL.",
  monitor_passive: "Push-Monitore lassen sich nicht von Hand prüfen; sie warten auf eine Meldung.",
  changed_meanwhile: "Jemand anderes hat das gleichzeitig geändert. Es wurde nichts gespeichert; versuchen Sie es erneut.",
  personal_notifier: "Dieser Melder gehört einer anderen Person. Nur sie kann ihn ändern oder löschen.",
  notifier_off: "Der Melder ist ausgeschaltet. Schalten Sie ihn zuerst ein.",
  not_running: "Diese Wartung läuft gerade nicht.",
  notifier_unsigned: "Nur Webhooks werden signiert: Dieser Melder hat kein Geheimnis.",
  no_plan: "Ihr Team hat keinen Tarif, der gekündigt werden kann.",
  administrator_needed: "Dieser Tarif wurde vom Betreiber festgelegt. Wenden Sie sich an ihn.",
  payment_under_way: "Eine Zahlung wird gerade verarbeitet. Warten Sie, bis sie abgeschlossen ist, bevor Sie erneut zahlen.",
  payment_unclear:
    "Der Zahlungsdienst hat nicht geantwortet. Wir klären das. Zahlen Sie nicht erneut, bevor die Zahlung hier angezeigt wird.",
  processor_failed: "Beim Zahlungsdienst ist ein Fehler aufgetreten. Es wurde nichts abgebucht; versuchen Sie es später erneut.",
  card_declined: "Die Karte wurde abgelehnt. Verwenden Sie eine andere oder fragen Sie Ihre Bank.",
  insufficient_funds: "Die Karte wurde mangels Deckung abgelehnt. Verwenden Sie eine andere.",
  expired_card: "Die Karte wurde abgelehnt, weil sie abgelaufen ist. Verwenden Sie eine andere.",
  authentication_required:
    "Die Karte verlangt bei jeder Zahlung eine Freigabe, was bei wiederkehrenden Zahlungen nicht möglich ist. Verwenden Sie eine andere.",
  incorrect_card: "Die Karte wurde abgelehnt, weil ihre Nummer oder Prüfziffer falsch ist. Prüfen Sie beide.",
  processing_error: "Die Karte konnte gerade nicht verarbeitet werden. Versuchen Sie es erneut oder verwenden Sie eine andere.",
  method_gone: "Der Zahlungsdienst akzeptiert diese gespeicherte Karte nicht mehr. Geben Sie sie neu ein oder verwenden Sie eine andere.",
  body_too_large: "Die Eingabe ist zu groß. Kürzen Sie sie.",
  ...Object.fromEntries(protocolErrors.map((code) => [code, "Der Server konnte die Anfrage nicht verstehen. Laden Sie die Seite neu."])),
};

const refusals: ServiceMessages["refusals"] = [
  ["is required", "Erforderlich."],
  ["is required with {}", "Ebenfalls erforderlich."],
  ["cannot be changed to or from account; create another notifier", "Der Typ lässt sich nicht ändern. Erstellen Sie einen anderen Melder."],
  ["must not be empty", "Darf nicht leer sein."],
  ["must have 1 to 255 characters", "Muss 1 bis 255 Zeichen lang sein."],
  ["must have at most {} characters", "Darf höchstens {} Zeichen lang sein."],
  ["must have at most {} bytes", "Darf höchstens {} Bytes lang sein."],
  ["must have at most {} items", "Höchstens {} Einträge sind erlaubt."],
  ["must not contain the NUL character", "Das Zeichen NUL ist nicht erlaubt."],
  ["must not contain control characters", "Steuerzeichen sind nicht erlaubt."],
  ["must not contain line ends or other control characters", "Zeilenumbrüche und andere Steuerzeichen sind nicht erlaubt."],
  [
    "must not contain tabs, line ends or other control characters",
    "Tabulatoren, Zeilenumbrüche und andere Steuerzeichen sind nicht erlaubt.",
  ],
  ["must not contain colons or control characters", "Doppelpunkte und Steuerzeichen sind nicht erlaubt."],
  ["must be a whole number", "Muss eine ganze Zahl sein."],
  ["must be a whole number from 1 to 65535", "Muss eine ganze Zahl von 1 bis 65535 sein."],
  ["must be a number from {} to {}", "Muss eine Zahl von {} bis {} sein."],
  ["must be a whole number from {} to {}", "Muss eine ganze Zahl von {} bis {} sein."],
  ["must be a whole number from 0 to {}", "Muss eine ganze Zahl von 0 bis {} sein."],
  ["must be a whole number of seconds from {} to {}", "Geben Sie {s} bis {s} ein."],

  ["must be an email address such as you@example.com", "Muss eine E-Mail-Adresse wie sie@example.com sein."],
  ["must contain at least one address", "Geben Sie mindestens eine Adresse ein."],
  ["must have at most {} addresses", "Höchstens {} Adressen sind erlaubt."],
  ["must have {} to {} characters", "Muss {} bis {} Zeichen lang sein."],
  ["must not be the email address", "Darf nicht die E-Mail-Adresse sein."],
  ["is too common; choose another password", "Dieses Passwort ist zu verbreitet. Wählen Sie ein anderes."],
  ["must be the same as password1", "Die Passwörter stimmen nicht überein."],
  ["must be the name of the team", "Geben Sie den Namen des Teams genau so ein, wie er ist."],

  [
    "must be an http or https URL such as https://example.com/path",
    "Muss eine URL wie https://example.com/pfad sein, mit http oder https.",
  ],
  ["its host {}", "Der Host ist ungültig. {}"],
  ["must have a port from 1 to 65535", "Der Port muss zwischen 1 und 65535 liegen."],
  [
    "must not contain a user name or password; send them as http.username and http.password",
    "Benutzername und Passwort gehören nicht in die URL, sondern in die Felder der Authentifizierung.",
  ],
  [
    "must not contain a user name or password; send an Authorization header instead",
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
  [
    "is too long: the long request bodies and headers of a team can have {} MiB in total",
    "Die langen Anfragetexte und Header Ihres Teams wären zusammen größer als {} MiB. Kürzen Sie diesen oder einen anderen.",
  ],
  [
    "cannot be limited further: your keys have the limit of your membership",
    "Entfernen Sie die Tags: Für Ihre Schlüssel gilt schon die Einschränkung Ihrer Mitgliedschaft.",
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

  ["contains unknown notifiers: {}", "Diese Melder gibt es nicht: {}"],

  [
    "The notifier is still linked to a monitor; remove it there first.",
    "Der Melder wird noch von einem Monitor verwendet. Entfernen Sie ihn dort zuerst.",
  ],
  ["The notifier is still linked to {}; remove it there first.", "Der Melder wird noch verwendet von: {}. Entfernen Sie ihn dort zuerst."],
  ["The message was not delivered: {}.", "Die Nachricht wurde nicht zugestellt: {}."],
  ["The {} plan allows {}; {}.", "Der Tarif {} erlaubt {}; {}."],
  ["intervals of {} s or more", "Intervalle ab {s}"],
  ["{n} active monitors", "{} aktive Monitore"],
  ["{n} users", "{} Benutzer"],
  ["upgrade to {}", "der nächste passende Tarif ist {}"],
  ["no plan allows more", "mehr ist in keinem Tarif möglich"],

  ["must be whsec_ and the base64 of 24 to 64 random bytes", "Muss aus whsec_ und 24 bis 64 zufälligen Bytes in Base64 bestehen."],

  ["must be the digits of a card number", "Darf nur die Ziffern einer Kartennummer enthalten."],
  ["is not a card number: check for a mistyped digit", "Das ist keine gültige Kartennummer. Prüfen Sie die Ziffern."],
  ["must be the 3 or 4 digits of the card's code", "Muss die Prüfziffer mit 3 oder 4 Stellen sein."],
  ["must be a month from 1 to 12", "Muss ein Monat von 1 bis 12 sein."],
  ["must be a year of four digits", "Muss ein Jahr mit vier Ziffern sein."],
  ["is in the past: the card has expired", "Die Karte ist abgelaufen."],

  ["is not a valid template: {}", "Die Vorlage ist ungültig: {}."],

  ["gives a timeout of {} s with an interval of {} s", "Das Zeitlimit von {s} ist länger als ein Intervall von {s}."],
  ['{} for the monitor "{}"', "{} (Monitor „{}“)"],
];

export const service: ServiceMessages = { codes, refusals, invalid: "Dieser Wert ist ungültig." };
