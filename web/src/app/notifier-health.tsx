/** Notifiers that fail: a badge in the navigation, and a banner with the newest error. */
import { useQuery } from "@tanstack/react-query";
import { notifierSummariesQuery, type NotifierSummary } from "../shared/api/notifiers";
import { useTexts } from "../shared/i18n";
import { Link, useLocation } from "../shared/router";
import { Moment } from "../shared/ui/time";
import styles from "./shell.module.css";

export function NotifierHealth({ as }: { as: "badge" | "banner" }) {
  const { data } = useQuery(notifierSummariesQuery);
  const failing = data?.filter(({ health }) => health.state === "failing") ?? [];
  if (failing.length === 0) return null;
  return as === "badge" ? <Count failing={failing.length} /> : <Banner failing={failing} />;
}

function Count({ failing }: { failing: number }) {
  const t = useTexts();
  return (
    <span className={styles.failing}>
      <span aria-hidden="true">{failing}</span>
      <span className="sr-only">{t.notifiers.failing(failing)}</span>
    </span>
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
