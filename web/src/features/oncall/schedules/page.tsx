/** Who is on call now and next in each schedule, and a week of one of them. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { onCallQuery, schedulesQuery, type OnCall } from "../../../shared/api/schedules";
import { useMay, useMe } from "../../../shared/api/session";
import { useMemberName } from "../../../shared/api/team";
import { readerZone } from "../../../shared/lib/zone";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Link, useSearchParams } from "../../../shared/router";
import { Badge } from "../../../shared/ui/badge";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Plus } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { Page, Panel } from "../../../shared/ui/page";
import styles from "../oncall.module.css";
import { OnCallTabs } from "../tabs";
import { timeText } from "./spans";
import { Week } from "./week-view";

export function SchedulePage() {
  const { oncall, nav } = useTexts();
  const edits = useMay("edit");
  const { data, error, isPending, refetch } = useQuery(schedulesQuery);
  const { data: now = [] } = useQuery(onCallQuery);
  const [search] = useSearchParams();
  const make = edits && (
    <Button component={Link} to="/oncall/schedule/new" leftSection={<Plus />}>
      {oncall.new}
    </Button>
  );
  const isEmpty = data?.length === 0;
  const shown = data?.find(({ scheduleid }) => scheduleid === search.get("schedule")) ?? data?.[0];
  return (
    <Page title={nav.oncall} lead={oncall.lead} actions={data && !isEmpty ? make : undefined}>
      <OnCallTabs current="/oncall" />
      {isPending && <Loading />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {isEmpty && (
        <Panel>
          <EmptyState title={oncall.none}>
            <p className={styles.emptyWords}>{oncall.noneHelp}</p>
            {make}
          </EmptyState>
        </Panel>
      )}
      {shown && (
        <>
          <ul className={styles.cards} aria-label={oncall.nowLabel}>
            {now.map((one) => (
              <Card key={one.scheduleid} onCall={one} current={one.scheduleid === shown.scheduleid} />
            ))}
          </ul>
          <Week key={shown.scheduleid} schedule={shown} />
        </>
      )}
    </Page>
  );
}

function Card({ onCall: { scheduleid, name, now, until, next }, current }: { onCall: OnCall; current: boolean }) {
  const { oncall, team } = useTexts();
  const { userid: me } = useMe();
  const nameOf = useMemberName();
  return (
    <li className={styles.card} data-gap={now ? undefined : true}>
      <Link to={`/oncall?schedule=${scheduleid}`} aria-current={current || undefined}>
        {name}
      </Link>
      <p className={styles.person}>
        {now ? nameOf(now.userid, now.email) : oncall.nobody}
        {now?.userid === me && <Badge tone="accent">{team.you}</Badge>}
      </p>
      <p className={styles.quiet}>
        {until ? (
          <>
            {oncall.until} <Handover at={until} />
          </>
        ) : (
          oncall.always
        )}
      </p>
      <p className={styles.quiet}>
        {next ? (
          <>
            {oncall.next}: {nameOf(next.userid, next.email)}, {oncall.from} <Handover at={next.from} />
          </>
        ) : (
          oncall.noNext
        )}
      </p>
    </li>
  );
}

/** A time in the reader's zone, to the minute. */
function Handover({ at }: { at: string }) {
  const { locale } = useLanguage();
  return (
    <time dateTime={at} className="num">
      {timeText(Date.parse(at), locale, readerZone())}
    </time>
  );
}
