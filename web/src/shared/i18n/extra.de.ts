import type { ExtraTexts } from "./extra.en";

const monitorCount = (count: number) => (count === 1 ? "1 Monitor" : `${count} Monitore`);

export const extra: ExtraTexts = {
  keys: [
    ["Strg K", "Suche und Befehle"],
    ["/", "Suchen"],
    ["n", "Neuer Monitor"],
    ["j", "Nächster Monitor"],
    ["k", "Voriger Monitor"],
    ["Enter", "Monitor öffnen"],
    ["x", "Monitor auswählen"],
    ["X", "Bis zum Monitor auswählen"],
    ["Esc", "Auswahl aufheben"],
    ["?", "Tastenkürzel anzeigen"],
  ],
  forbidden: {
    title: (roles) => `Dafür brauchen Sie die Rolle ${roles}`,
    help: (own) => `Ihre Rolle ist ${own}. Ein Inhaber Ihres Teams kann sie ändern.`,
  },
  chooseRoles: {
    text: "Alle in Ihrem Team sind Inhaber.",
    action: "Rollen wählen",
  },
  serviceAccounts: {
    title: "Dienstkonten",
    lead: "Konten für Programme, mit einer Rolle und API-Schlüsseln, aber ohne Passwort.",
    none: "Erstellen Sie für jedes Programm, das die API nutzt, ein Dienstkonto, damit seine Schlüssel gültig bleiben, wenn jemand das Team verlässt.",
    new: "Neues Dienstkonto",
    create: "Dienstkonto erstellen",
    created: (name) => `${name} wurde erstellt. Erstellen Sie nun einen API-Schlüssel dafür.`,
    nameHelp: "Das Programm, das es verwendet, etwa „Terraform“.",
    keys: (count) => (count === 0 ? "keine API-Schlüssel" : `${count} API-Schlüssel`),
    newKey: (name) => `Neuer API-Schlüssel für ${name}`,
    fullScope: "Alles, was das Dienstkonto kann",
    scopeHelp: "Der Schlüssel kann nie mehr als das Dienstkonto.",
    suspendHelp: "Seine API-Schlüssel werden abgewiesen, bis Sie die Sperre aufheben.",
    delete: "Löschen",
    deleteTitle: (name) => `${name} löschen?`,
    deleteHelp:
      "Das Dienstkonto und seine API-Schlüssel werden endgültig gelöscht. Alles, was sie verwendet, funktioniert sofort nicht mehr.",
  },
  bulk: {
    label: "Ausgewählte Monitore",
    selected: (count, hidden, all) =>
      hidden === null
        ? `${count} ausgewählt`
        : all
          ? `${count} ausgewählt (durch Filter ausgeblendet)`
          : `${count} ausgewählt (${hidden} durch Filter ausgeblendet)`,
    all: (count) => `Alle ${count} auswählen`,
    clear: "Auswahl aufheben",
    edit: "Bearbeiten",
    editTitle: (count) => `${monitorCount(count)} bearbeiten`,
    noChange: "Nicht ändern",
    retries: "Leer lassen, um die jeweilige Einstellung zu behalten.",
    addTags: "Tags hinzufügen",
    removeTags: "Tags entfernen",
    notifier: (name) => `Änderung für ${name}`,
    ways: { keep: "Nicht ändern", add: "Hinzufügen", remove: "Entfernen" },
    preview: (changed, matched) => `${changed} von ${matched} Monitoren werden geändert.`,
    nothing: "Wählen Sie aus, was geändert werden soll.",
    paused: (count) => `${monitorCount(count)} pausiert.`,
    resumed: (count) => `${monitorCount(count)} fortgesetzt.`,
    changed: (count) => (count === 0 ? "Es gibt nichts zu ändern." : `${monitorCount(count)} geändert.`),
    deleted: (count) => `${monitorCount(count)} gelöscht.`,
    deleteTitle: (count) => `${monitorCount(count)} löschen?`,
    deleteHelp: "Die Monitore und ihr Verlauf werden endgültig gelöscht.",
  },
  palette: {
    title: "Suche und Befehle",
    placeholder: "Monitore, Melder, Einstellungen und Aktionen suchen",
    results: "Ergebnisse",
    none: "Nichts gefunden.",
    count: (count) => (count === 1 ? "1 Ergebnis" : `${count} Ergebnisse`),
    groups: {
      monitors: "Monitore",
      notifiers: "Melder",
      views: "Gespeicherte Ansichten",
      actions: "Aktionen",
      pages: "Seiten",
      settings: "Einstellungen",
    },
    newNotifier: "Neuer Melder",
    scheme: (name) => `Darstellung: ${name}`,
    language: "Zu Englisch wechseln (English)",
  },
  views: {
    none: "Noch keine gespeicherten Ansichten.",
    save: "Diese Ansicht speichern …",
    saveTitle: "Diese Ansicht speichern",
    name: "Name",
    nameHelp: "Speichert Suche, Filter und Reihenfolge in diesem Browser.",
    saved: (name) => `Ansicht ${name} gespeichert.`,
    remove: (name) => `„${name}“ löschen`,
    removed: (name) => `Ansicht ${name} gelöscht.`,
  },
  wallboard: {
    back: "Zurück zur Liste",
    fullscreen: "Vollbild",
    allUp: "Alle Monitore sind in Ordnung",
    troubled: "Braucht Aufmerksamkeit",
    rest: "Alle anderen Monitore",
    notLive: "Keine Live-Aktualisierung. Die Anzeige ist möglicherweise veraltet.",
    more: (count) => `${count} weitere`,
  },
};
