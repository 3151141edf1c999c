/** The frame of every page after login: navigation, user menu, content. */
import { Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useState, type ComponentType } from "react";
import { Link, Outlet, ScrollRestoration, useLocation, useNavigate, useNavigation } from "react-router";
import { useEvents } from "../features/monitors/live-updates";
import { membership } from "../shared/api/membership";
import { logOut, useMe } from "../shared/api/session";
import { isAfterReset } from "../shared/lib/after-reset";
import { useKeys } from "../shared/lib/keys";
import { useOnline } from "../shared/lib/online";
import { useLanguage, useTexts } from "../shared/i18n";
import { ActionMenu } from "../shared/ui/action-menu";
import { Bell, Card, Chevron, Cloud, Gear, Globe, Keyboard, Moon, Out, People, Plus, Pulse, Screen, Send, Sun } from "../shared/ui/icons";
import { Logo } from "../shared/ui/logo";
import { useScheme, type Choice } from "../shared/ui/scheme";
import { showToast } from "../shared/ui/toast";
import { useErrorMessage } from "../shared/ui/error-message";
import styles from "./shell.module.css";

// Dialogs are not part of the first screen.
const KeyboardShortcuts = lazy(() => import("./keyboard-shortcuts"));
const LogoutEverywhere = lazy(() => import("./logout-everywhere"));
const TeamReview = lazy(() => import("./team-review"));

export function Shell() {
  const t = useTexts();
  const navigate = useNavigate();
  const navigation = useNavigation();
  const [dialog, openDialog] = useState<"help" | "everywhere" | null>(null);
  const close = () => openDialog(null);
  const { data: billing } = useQuery(membership);
  useEvents();
  const { pathname, state } = useLocation() as { pathname: string; state: unknown };
  const [review, setReview] = useState(() => isAfterReset(state));
  useKeys({
    n: () => void navigate("/monitor/new"),
    "?": () => openDialog("help"),
    // The dashboard handles this key itself.
    ...(pathname !== "/" && { "/": () => void navigate("/", { state: { search: true } }) }),
  });
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {t.nav.skip}
      </a>
      <div className={styles.bar}>
        <Link to="/" className={styles.brand}>
          <Logo size={26} />
          <span>Wakeful</span>
        </Link>
        <nav className={styles.nav} aria-label={t.nav.label}>
          <Item to="/" icon={Pulse} label={t.nav.monitors} one="/monitor/" />
          <Item to="/alerts" icon={Bell} label={t.nav.alerts} />
          <Item to="/notifiers" icon={Send} label={t.nav.notifiers} one="/notifier/" />
          <Item to="/team" icon={People} label={t.nav.team} />
          {billing?.billing && <Item to="/billing" icon={Card} label={t.nav.billing} desktop />}
          <Item to="/settings" icon={Gear} label={t.nav.settings} />
        </nav>
        <Link to="/monitor/new" className={styles.add} aria-label={t.nav.newMonitor} title={`${t.nav.newMonitor} (n)`}>
          <Plus size={20} />
        </Link>
        <div className={styles.spacer} />
        <UserMenu openDialog={openDialog} />
      </div>
      <div className={styles.body}>
        <OfflineStrip />
        <Suspense>{review && <TeamReview close={() => setReview(false)} />}</Suspense>
        <main id="content" className={styles.content} tabIndex={-1} data-busy={navigation.state === "loading" || undefined}>
          <Outlet />
        </main>
      </div>
      <Suspense>
        {dialog === "help" && <KeyboardShortcuts close={close} />}
        {dialog === "everywhere" && <LogoutEverywhere close={close} />}
      </Suspense>
      <ScrollRestoration />
    </div>
  );
}

interface ItemProps {
  to: string;
  icon: ComponentType;
  label: string;
  /** The path prefix of the detail pages that belong to this item. */
  one?: string;
  /** Hidden on small screens; Settings links there too. */
  desktop?: boolean;
}

function Item({ to, icon: Icon, label, one, desktop = false }: ItemProps) {
  const { pathname } = useLocation();
  const here = pathname === to ? "page" : one !== undefined && pathname.startsWith(one) ? "true" : undefined;
  return (
    <Link to={to} className={styles.item} aria-current={here} data-desktop={desktop || undefined}>
      <Icon />
      <span>{label}</span>
    </Link>
  );
}

const schemes: [Choice, ComponentType][] = [
  ["system", Screen],
  ["light", Sun],
  ["dark", Moon],
];

function UserMenu({ openDialog }: { openDialog: (which: "help" | "everywhere") => void }) {
  const t = useTexts();
  const { language, setLanguage } = useLanguage();
  const { email } = useMe();
  const { chosen, choose } = useScheme();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const leave = () => {
    logOut(client, false).catch((error: unknown) => showToast(errorMessage(error), true));
  };
  return (
    <ActionMenu
      position="top-start"
      width={220}
      button={
        <button type="button" className={styles.user} aria-label={t.nav.account(email)}>
          <span className={styles.face} aria-hidden="true">
            {email.charAt(0).toUpperCase()}
          </span>
          <span className={styles.email}>{email}</span>
          <Chevron />
        </button>
      }
    >
      <Menu.Label>{t.nav.appearance}</Menu.Label>
      {schemes.map(([choice, Icon]) => (
        <Menu.Item
          key={choice}
          leftSection={<Icon />}
          rightSection={chosen === choice ? "•" : null}
          aria-current={chosen === choice}
          onClick={() => choose(choice)}
        >
          {t.nav.schemes[choice]}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Item leftSection={<Globe />} onClick={() => setLanguage(language === "en" ? "de" : "en")}>
        {t.common.otherLanguage}
      </Menu.Item>
      <Menu.Item leftSection={<Keyboard />} onClick={() => openDialog("help")} rightSection={<kbd>?</kbd>}>
        {t.nav.keys}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item leftSection={<Out />} onClick={leave}>
        {t.nav.logOut}
      </Menu.Item>
      <Menu.Item leftSection={<Out />} onClick={() => openDialog("everywhere")}>
        {t.nav.logOutAll}
      </Menu.Item>
    </ActionMenu>
  );
}

function OfflineStrip() {
  const t = useTexts();
  const online = useOnline();
  return online ? null : (
    <p className={styles.offline} role="status">
      <Cloud />
      {t.errors.noNetwork}
    </p>
  );
}
