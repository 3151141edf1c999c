/** The commands that the palette offers. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";
import { short, stateOf } from "../features/monitors/data";
import { useSavedViews } from "../features/monitors/list/saved-views";
import { shown, viewOf } from "../features/monitors/list/view";
import { StatusMark } from "../features/monitors/status";
import { useHasBilling } from "../shared/api/membership";
import { monitorsQuery } from "../shared/api/monitors";
import { notifierSummariesQuery } from "../shared/api/notifiers";
import { logOut, useMay, useMe } from "../shared/api/session";
import { teamsQuery } from "../shared/api/teams";
import { useLanguage, useTexts } from "../shared/i18n";
import { useNavigate } from "../shared/router";
import { useErrorMessage } from "../shared/ui/error-message";
import {
  Bell,
  Card,
  Gear,
  Globe,
  Keyboard,
  Moon,
  Out,
  People,
  Plus,
  Pulse,
  Screen,
  Search,
  Send,
  Shield,
  Sun,
  Watch,
  Wrench,
} from "../shared/ui/icons";
import { useScheme, type Choice } from "../shared/ui/scheme";
import { showToast } from "../shared/ui/toast";
import type { Command, Group } from "./commands";
import { useSwitchTeam } from "./use-switch-team";

type OpenDialog = (which: "help" | "everywhere" | "team") => void;

export function useCommands(openDialog: OpenDialog): Command[] {
  const found = useFound();
  const pages = usePages();
  const teams = useTeams();
  const actions = useActions(openDialog);
  return [...found, ...teams, ...actions, ...pages];
}

/** Returns a function that makes a command which opens a page. */
function useOpener() {
  const navigate = useNavigate();
  return (group: Group, to: string, command: Pick<Command, "label" | "icon" | "hint">): Command => ({
    ...command,
    id: `${group} ${to}`,
    group,
    run: () => void navigate(to),
  });
}

/** What the team and the user have created. Monitors that need attention come first. */
function useFound(): Command[] {
  const open = useOpener();
  const enabled = useMay("view");
  const { data: list } = useQuery({ ...monitorsQuery, enabled });
  const { data: receivers = [] } = useQuery({ ...notifierSummariesQuery, enabled });
  const { views } = useSavedViews();
  const sorted = useMemo(() => shown(list ?? [], viewOf(new URLSearchParams())), [list]);
  if (!enabled) return [];
  return [
    ...views.map(({ name, search }) => open("views", `/?${search}`, { label: name, icon: <Search /> })),
    ...sorted.map((monitor) =>
      open("monitors", `/monitor/${monitor.monitorid}`, {
        label: monitor.name,
        hint: short(monitor.target),
        icon: <StatusMark state={stateOf(monitor)} />,
      }),
    ),
    ...receivers.map((notifier) =>
      open("notifiers", `/notifier/${notifier.notifierid}`, { label: notifier.name, hint: notifier.receiver, icon: <Send /> }),
    ),
  ];
}

/** The user's other teams. */
function useTeams(): Command[] {
  const t = useTexts();
  const { groupid: current } = useMe();
  const { data = [] } = useQuery(teamsQuery);
  const switchTeam = useSwitchTeam();
  return data
    .filter(({ groupid, suspended }) => groupid !== current && !suspended)
    .map((team) => ({
      id: `team ${team.groupid}`,
      group: "teams",
      label: t.teams.switchTo(team.name),
      hint: t.nav.roles[team.role],
      icon: <People />,
      run: () => void switchTeam(team),
    }));
}

function usePages(): Command[] {
  const t = useTexts();
  const open = useOpener();
  const views = useMay("view");
  const operates = useMay("operate");
  const hasBilling = useHasBilling();
  const settings = [
    ["account", t.settings.account],
    ["mfa", t.mfa.title],
    ["contacts", t.contacts.title],
    ["api-keys", t.apiKeys.title],
    ["sessions", t.settings.sessions],
    ["export", t.settings.exportSection],
    ["delete-account", t.settings.deleteSection],
  ] as const;
  return [
    ...(views
      ? [
          open("pages", "/", { label: t.nav.monitors, icon: <Pulse /> }),
          open("pages", "/alerts", { label: t.nav.alerts, icon: <Bell /> }),
          open("pages", "/maintenance", { label: t.nav.maintenance, icon: <Wrench /> }),
          open("pages", "/oncall", { label: t.nav.oncall, icon: <Watch /> }),
          open("pages", "/oncall/policies", { label: t.escalation.title, hint: t.nav.oncall, icon: <Watch /> }),
          open("pages", "/oncall/routing", { label: t.routing.title, hint: t.nav.oncall, icon: <Watch /> }),
          open("pages", "/statuspages", { label: t.statuspages.title, icon: <Globe /> }),
          open("pages", "/incidents", { label: t.incidents.title, hint: t.statuspages.title, icon: <Globe /> }),
          open("pages", "/notifiers", { label: t.nav.notifiers, icon: <Send /> }),
          open("pages", "/wallboard", { label: t.nav.wallboard, icon: <Screen /> }),
          open("pages", "/maintenance?view=month", { label: t.palette.month, hint: t.nav.maintenance, icon: <Wrench /> }),
        ]
      : []),
    open("pages", "/team", { label: t.nav.team, icon: <People /> }),
    ...(operates ? [open("pages", "/admin", { label: t.admin.title, icon: <Shield /> })] : []),
    ...(hasBilling ? [open("pages", "/billing", { label: t.nav.billing, icon: <Card /> })] : []),
    ...settings.map(([anchor, label]) => open("settings", `/settings#${anchor}`, { label, hint: t.nav.settings, icon: <Gear /> })),
  ];
}

const schemes = { system: <Screen />, light: <Sun />, dark: <Moon /> } satisfies Record<Choice, unknown>;

function useActions(openDialog: OpenDialog): Command[] {
  const t = useTexts();
  const { palette } = t;
  const open = useOpener();
  const edits = useMay("edit");
  const responds = useMay("respond");
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const { choose } = useScheme();
  const { language, setLanguage } = useLanguage();
  const act = (id: string, label: string, icon: Command["icon"], run: () => void): Command => ({ id, group: "actions", label, icon, run });
  const leave = () => {
    logOut(client, false).catch((error: unknown) => showToast(errorMessage(error), true));
  };
  return [
    ...(edits
      ? [
          open("actions", "/monitor/new", { label: t.nav.newMonitor, icon: <Plus /> }),
          open("actions", "/notifier/new", { label: palette.newNotifier, icon: <Plus /> }),
          open("actions", "/statuspage/new", { label: t.statuspages.newTitle, icon: <Plus /> }),
        ]
      : []),
    ...(responds
      ? [
          open("actions", "/maintenance/new", { label: t.maintenance.newTitle, icon: <Plus /> }),
          open("actions", "/incident/new", { label: t.incidents.newTitle.incident, icon: <Plus /> }),
        ]
      : []),
    act("team", t.teams.newTitle, <Plus />, () => openDialog("team")),
    act("help", t.nav.keys, <Keyboard />, () => openDialog("help")),
    act("language", palette.language, <Globe />, () => setLanguage(language === "en" ? "de" : "en")),
    ...(["system", "light", "dark"] as const).map((choice) =>
      act(choice, palette.scheme(t.nav.schemes[choice]), schemes[choice], () => choose(choice)),
    ),
    act("logout", t.nav.logOut, <Out />, leave),
    act("everywhere", t.nav.logOutAll, <Out />, () => openDialog("everywhere")),
  ];
}
