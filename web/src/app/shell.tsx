/** The frame of every page after login: navigation, user menu, content. */
import { lazy, Suspense, useState, type ComponentType, type ReactNode } from "react";
import { useEvents } from "../features/monitors/live-updates";
import { useHasBilling } from "../shared/api/membership";
import { useMay, useMe } from "../shared/api/session";
import { isAfterReset } from "../shared/lib/after-reset";
import { useKeys, useModifiedKey } from "../shared/lib/keys";
import { NotifierDialogContext, type NotifierDialogProps } from "../shared/lib/notifier-dialog";
import { useOnline } from "../shared/lib/online";
import { useFirstTexts } from "../shared/i18n";
import { Link, ScrollRestoration, useBusy, useLocation, useNavigate } from "../shared/router";
import { Bell, Card, Chevron, Cloud, Gear, Globe, People, Plus, Pulse, Search, Send, Watch, Wrench } from "../shared/ui/icons";
import { later } from "../shared/ui/later";
import { LazyMenu } from "../shared/ui/lazy-menu";
import { Logo } from "../shared/ui/logo";
import { May } from "../shared/ui/may";
import { FailingNotifiers } from "./failing-notifiers";
import styles from "./shell.module.css";

// Dialogs and menus are not part of the first screen.
const CommandPalette = lazy(later(() => import("./command-palette")));
const KeyboardShortcuts = lazy(later(() => import("./keyboard-shortcuts")));
const LogoutEverywhere = lazy(later(() => import("./logout-everywhere")));
const NewTeam = lazy(later(() => import("./new-team")));
const Notices = lazy(() => import("./notices"));
const NotifierDialog = lazy(later(() => import("../features/notifiers/dialog")));
const TeamReview = lazy(later(() => import("./team-review")));
const UserActions = lazy(later(() => import("./user-actions")));

const notifierDialog = (props: NotifierDialogProps) => (
  <Suspense>
    <NotifierDialog {...props} />
  </Suspense>
);

type Opened = "palette" | "help" | "everywhere" | "team";

/** The page without navigation, for a screen on the wall. */
const WALLBOARD = "/wallboard";

const PALETTE_KEY = navigator.userAgent.includes("Mac") ? "⌘K" : "Ctrl K";

export function Shell({ children }: { children: ReactNode }) {
  const t = useFirstTexts();
  const navigate = useNavigate();
  const busy = useBusy();
  const [dialog, openDialog] = useState<Opened | null>(null);
  const close = () => openDialog(null);
  const views = useMay("view");
  const edits = useMay("edit");
  const responds = useMay("respond");
  useEvents(views);
  const { pathname, state } = useLocation() as { pathname: string; state: unknown };
  const [review, setReview] = useState(() => isAfterReset(state));
  useKeys({
    ...(edits && { n: () => void navigate("/monitor/new") }),
    ...(responds && { i: () => void navigate("/incident/new") }),
    "?": () => openDialog("help"),
    // Pages with a search of their own handle this key.
    ...(views && pathname !== "/" && pathname !== "/alerts" && { "/": () => void navigate("/", { state: { search: true } }) }),
  });
  useModifiedKey("k", () => {
    if (dialog === "palette") close();
    else if (!document.querySelector("[role=dialog]")) openDialog("palette");
  });
  const bare = pathname === WALLBOARD;
  return (
    <div className={bare ? undefined : styles.shell}>
      <a className={styles.skip} href="#content">
        {t.nav.skip}
      </a>
      {!bare && <Bar openDialog={openDialog} />}
      <div className={styles.body}>
        <OfflineStrip />
        <Suspense>{views && <Notices review={review} />}</Suspense>
        <Suspense>{review && <TeamReview close={() => setReview(false)} />}</Suspense>
        <main id="content" className={styles.content} tabIndex={-1} data-busy={busy || undefined}>
          <NotifierDialogContext value={notifierDialog}>{children}</NotifierDialogContext>
        </main>
      </div>
      <Suspense fallback={<DialogLoading />}>
        {dialog === "palette" && <CommandPalette close={close} openDialog={openDialog} />}
        {dialog === "help" && <KeyboardShortcuts close={close} />}
        {dialog === "everywhere" && <LogoutEverywhere close={close} />}
        {dialog === "team" && <NewTeam close={close} />}
      </Suspense>
      <ScrollRestoration />
    </div>
  );
}

function Bar({ openDialog }: { openDialog: (which: Opened) => void }) {
  const t = useFirstTexts();
  const views = useMay("view");
  const hasBilling = useHasBilling();
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.brand}>
        <Logo size={26} />
        <span>Wakeful</span>
      </Link>
      <button type="button" className={styles.find} aria-keyshortcuts="Control+K Meta+K" onClick={() => openDialog("palette")}>
        <Search />
        <span>{t.nav.search}</span>
        <kbd>{PALETTE_KEY}</kbd>
      </button>
      <nav className={styles.nav} aria-label={t.nav.label}>
        {views && (
          <>
            <Item to="/" icon={Pulse} label={t.nav.monitors} one="/monitor/" />
            <Item to="/alerts" icon={Bell} label={t.nav.alerts} one="/alert/" />
            <Item to="/maintenance" icon={Wrench} label={t.nav.maintenance} one="/maintenance/" desktop />
            <Item to="/oncall" icon={Watch} label={t.nav.oncall} one="/oncall/" desktop />
            <Item to="/statuspages" icon={Globe} label={t.nav.statuspages} one="/statuspage/" desktop />
            <Item to="/notifiers" icon={Send} label={t.nav.notifiers} one="/notifier/" badge={<FailingNotifiers />} />
          </>
        )}
        <Item to="/team" icon={People} label={t.nav.team} one="/team/" />
        {hasBilling && <Item to="/billing" icon={Card} label={t.nav.billing} desktop={views} />}
        <Item to="/settings" icon={Gear} label={t.nav.settings} />
      </nav>
      <May do="edit">
        <Link to="/monitor/new" className={styles.add} aria-label={t.nav.newMonitor} title={`${t.nav.newMonitor} (n)`}>
          <Plus size={20} />
        </Link>
      </May>
      <div className={styles.spacer} />
      <UserMenu openDialog={openDialog} />
    </header>
  );
}

/** While a dialog is being loaded, keys that are typed are not shortcuts of the page. */
function DialogLoading() {
  const t = useFirstTexts();
  return <div className="sr-only" role="dialog" aria-label={t.common.loading} />;
}

interface ItemProps {
  to: string;
  icon: ComponentType;
  label: string;
  /** The path prefix of the detail pages that belong to this item. */
  one?: string;
  badge?: ReactNode;
  /** Hidden on small screens, for want of space; Settings or Alerts link there too. */
  desktop?: boolean;
}

function Item({ to, icon: Icon, label, one, badge, desktop = false }: ItemProps) {
  const { pathname } = useLocation();
  const here = pathname === to ? "page" : one !== undefined && pathname.startsWith(one) ? "true" : undefined;
  return (
    <Link to={to} className={styles.item} aria-current={here} data-desktop={desktop || undefined}>
      <Icon />
      <span>{label}</span>
      <Suspense>{badge}</Suspense>
    </Link>
  );
}

function UserMenu({ openDialog }: { openDialog: (which: Opened) => void }) {
  const t = useFirstTexts();
  const { email, name, groupname, role } = useMe();
  const shown = name || email;
  return (
    <LazyMenu
      button={(props) => (
        <button type="button" className={styles.user} aria-label={t.nav.account(email, groupname)} {...props}>
          <span className={styles.face} aria-hidden="true">
            {shown.charAt(0).toUpperCase()}
          </span>
          <span className={styles.who}>
            <span className={styles.cut} title={email}>
              {shown}
            </span>
            <span className={styles.inTeam} aria-hidden="true">
              <span className={styles.cut} title={groupname}>
                {groupname}
              </span>
              <span> · {t.nav.roles[role]}</span>
            </span>
          </span>
          <Chevron />
        </button>
      )}
      menu={(button) => <UserActions button={button} openDialog={openDialog} />}
    />
  );
}

function OfflineStrip() {
  const t = useFirstTexts();
  const online = useOnline();
  return online ? null : (
    <p className={styles.offline} role="status">
      <Cloud />
      {t.errors.noNetwork}
    </p>
  );
}
