/**
 * What is shown above every page: that the team is suspended, an address that is not verified, notifiers that fail, drafts of
 * incidents, and roles that are still to be chosen.
 */
import { useQuery } from "@tanstack/react-query";
import { incidentsQuery } from "../shared/api/incidents";
import type { NotifierSummary } from "../shared/api/notifiers";
import { useMay, useMe } from "../shared/api/session";
import { useTexts } from "../shared/i18n";
import { Link, useLocation } from "../shared/router";
import { Moment } from "../shared/ui/time";
import { ChooseRoles } from "./choose-roles";
import { useFailing } from "./failing-notifiers";
import styles from "./shell.module.css";

export default function Notices({ review }: { review: boolean }) {
  const { role, email, email_verified, mail_server, team_suspended } = useMe();
  const { pathname } = useLocation();
  const failing = useFailing();
  const responds = useMay("respond");
  return (
    <>
      {/* Texts are loaded only with what is shown: most people never see any of it. */}
      {team_suspended && <SuspendedBanner />}
      {!email_verified && mail_server && !saysUnverified(pathname) && <UnverifiedBanner email={email} />}
      {failing.length > 0 && <Banner failing={failing} />}
      {responds && <Drafts />}
      {/* The page of the team is where they are chosen. */}
      {role === "owner" && !review && pathname === "/" && <ChooseRoles />}
    </>
  );
}

/** Whether a page says itself that the address is not verified, or has no room for it. */
function saysUnverified(pathname: string): boolean {
  return pathname === "/settings" || pathname === "/wallboard" || pathname.startsWith("/notifier");
}

/** An administrator of the installation has suspended the team. */
function SuspendedBanner() {
  const { suspendedTeam } = useTexts();
  return (
    <div className={styles.broken} role="status">
      <p>
        <b>{suspendedTeam.title}</b> {suspendedTeam.help}
      </p>
      <Link to="/contact">{suspendedTeam.contact}</Link>
    </div>
  );
}

/** Without a verified address, no notification is sent to it. */
function UnverifiedBanner({ email }: { email: string }) {
  const { verifyAddress } = useTexts();
  return (
    <div className={styles.unverified} role="status">
      <p>
        <b>{verifyAddress.title(email)}</b> {verifyAddress.help}
      </p>
      <Link to="/settings">{verifyAddress.settings}</Link>
    </div>
  );
}

/** Drafts of incidents that wait for somebody to publish or discard them. */
function Drafts() {
  const { pathname } = useLocation();
  const { data = [] } = useQuery(incidentsQuery("draft"));
  const [first, ...others] = data;
  if (!first) return null;
  const path = others.length > 0 ? "/incidents" : `/incident/${first.incidentid}`;
  // These pages say the same.
  if (pathname === path || pathname === "/incidents") return null;
  return <DraftBanner title={first.title} others={others.length} to={path} />;
}

function DraftBanner({ title, others, to }: { title: string; others: number; to: string }) {
  const { incidents } = useTexts();
  return (
    <div className={styles.broken} role="status">
      <p>{incidents.draftBanner(title, others)}</p>
      <Link to={to}>{incidents.review}</Link>
    </div>
  );
}

function Banner({ failing }: { failing: readonly NotifierSummary[] }) {
  const t = useTexts();
  const { pathname } = useLocation();
  const [{ notifierid, name, health }, ...others] = failing.toSorted((a, b) => since(b) - since(a)) as [
    NotifierSummary,
    ...NotifierSummary[],
  ];
  const path = `/notifier/${notifierid}`;
  // Its page says the same.
  if (pathname === path) return null;
  return (
    <div className={styles.broken} role="status">
      <p>
        <b>{t.notifiers.failingBanner(name)}</b>{" "}
        {health.since && (
          <>
            {t.notifiers.since} <Moment at={health.since} />
          </>
        )}
        {health.error && `: ${health.error.slice(0, MAX_ERROR_LENGTH)}`} {others.length > 0 && t.notifiers.failingMore(others.length)}
      </p>
      <Link to={others.length > 0 ? "/notifiers" : path}>{t.notifiers.show}</Link>
    </div>
  );
}

const MAX_ERROR_LENGTH = 160;

function since({ health }: NotifierSummary): number {
  return health.since ? Date.parse(health.since) : 0;
}
