/** The texts of views and dialogs that are loaded when they are opened; see extra.de.ts. */
const monitorCount = (count: number) => (count === 1 ? "1 monitor" : `${count} monitors`);

export const extra = {
  keys: [
    ["Ctrl K", "Search and commands"],
    ["/", "Search"],
    ["n", "New monitor"],
    ["j", "Next monitor"],
    ["k", "Previous monitor"],
    ["Enter", "Open the monitor"],
    ["x", "Select the monitor"],
    ["X", "Select up to the monitor"],
    ["Esc", "Clear the selection"],
    ["?", "Show shortcuts"],
  ] as readonly (readonly [string, string])[],
  forbidden: {
    title: (roles: string) => `You need the role ${roles}`,
    help: (own: string) => `Your role is ${own}. An owner of your team can change it.`,
  },
  chooseRoles: {
    text: "Everybody in your team is an owner.",
    action: "Choose roles",
  },
  serviceAccounts: {
    title: "Service accounts",
    lead: "Accounts for programs, with a role and API keys but no password.",
    none: "Create a service account for each program that uses the API, so that its keys stay valid when people leave the team.",
    new: "New service account",
    create: "Create service account",
    created: (name: string) => `Created ${name}. Now create an API key for it.`,
    nameHelp: "The program that will use it, such as “Terraform”.",
    keys: (count: number) => (count === 0 ? "no API keys" : count === 1 ? "1 API key" : `${count} API keys`),
    newKey: (name: string) => `New API key for ${name}`,
    fullScope: "Everything the service account can do",
    scopeHelp: "The key can never do more than the service account can.",
    suspendHelp: "Its API keys are refused until you end the suspension.",
    delete: "Delete",
    deleteTitle: (name: string) => `Delete ${name}?`,
    deleteHelp: "This permanently deletes the service account and its API keys. Anything using them stops working immediately.",
  },
  bulk: {
    label: "Selected monitors",
    selected: (count: string, hidden: string | null, all: boolean) =>
      hidden === null
        ? `${count} selected`
        : all
          ? `${count} selected (hidden by filters)`
          : `${count} selected (${hidden} hidden by filters)`,
    all: (count: string) => `Select all ${count}`,
    clear: "Clear the selection",
    edit: "Edit",
    editTitle: (count: number) => `Edit ${monitorCount(count)}`,
    noChange: "No change",
    retries: "Leave blank to keep each monitor’s own.",
    addTags: "Add tags",
    removeTags: "Remove tags",
    notifier: (name: string) => `Change for ${name}`,
    ways: { keep: "No change", add: "Add", remove: "Remove" },
    preview: (changed: string, matched: string) => `${changed} of ${matched} monitors will change.`,
    nothing: "Choose what to change.",
    paused: (count: number) => `Paused ${monitorCount(count)}.`,
    resumed: (count: number) => `Resumed ${monitorCount(count)}.`,
    changed: (count: number) => (count === 0 ? "Nothing to change." : `Changed ${monitorCount(count)}.`),
    deleted: (count: number) => `Deleted ${monitorCount(count)}.`,
    deleteTitle: (count: number) => `Delete ${monitorCount(count)}?`,
    deleteHelp: "This permanently deletes them and their history.",
  },
  palette: {
    title: "Search and commands",
    placeholder: "Search monitors, notifiers, settings and actions",
    results: "Results",
    none: "Nothing found.",
    count: (count: number) => (count === 1 ? "1 result" : `${count} results`),
    groups: {
      monitors: "Monitors",
      notifiers: "Notifiers",
      views: "Saved views",
      actions: "Actions",
      pages: "Pages",
      settings: "Settings",
    },
    newNotifier: "New notifier",
    scheme: (name: string) => `Appearance: ${name}`,
    language: "Switch to German (Deutsch)",
  },
  views: {
    none: "No saved views yet.",
    save: "Save this view…",
    saveTitle: "Save this view",
    name: "Name",
    nameHelp: "Saves the search, filters and order in this browser.",
    saved: (name: string) => `Saved the view ${name}.`,
    remove: (name: string) => `Delete “${name}”`,
    removed: (name: string) => `Deleted the view ${name}.`,
  },
  wallboard: {
    back: "Back to the list",
    fullscreen: "Full screen",
    allUp: "All monitors are up",
    troubled: "Needs attention",
    rest: "All other monitors",
    notLive: "No live updates. What you see may be out of date.",
    more: (count: string) => `${count} more`,
  },
};

export type ExtraTexts = typeof extra;
