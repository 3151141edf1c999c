/** A week of a schedule: layers, overrides and gaps as a chart, the shifts as a list, and what can be done. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { createFeed, deleteOverride, deleteSchedule, shiftsQuery, type Schedule } from "../../../shared/api/schedules";
import { useMay } from "../../../shared/api/session";
import { useMemberName } from "../../../shared/api/team";
import { useNow } from "../../../shared/lib/now";
import { isSameTime, knownZone, readerZone } from "../../../shared/lib/zone";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Link, useSearchParams } from "../../../shared/router";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { CalendarFeed } from "../../../shared/ui/calendar-feed";
import { Confirm } from "../../../shared/ui/confirm";
import { Dialog } from "../../../shared/ui/dialog";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { Back, Globe, More, Pencil, Plus, Trash } from "../../../shared/ui/icons";
import { Loading } from "../../../shared/ui/loading";
import { Panel } from "../../../shared/ui/page";
import { showToast } from "../../../shared/ui/toast";
import { useRun } from "../../../shared/ui/use-run";
import styles from "../oncall.module.css";
import { WeekChart } from "./chart";
import { OverrideDialog, type Suggestion } from "./override";
import { stintsOf, type Stint } from "./shifts";
import { spanText } from "./spans";
import { rangeOf, shifted, weekOf } from "./week";

const MINUTE = 60_000;

type Open = { what: "override"; suggested?: Suggestion } | { what: "feed" | "delete" } | null;

export function Week({ schedule }: { schedule: Schedule }) {
  const t = useTexts();
  const { oncall } = t;
  const { locale } = useLanguage();
  const [search, setSearch] = useSearchParams();
  const now = Math.floor(useNow() / MINUTE) * MINUTE;
  const zone = knownZone(schedule.time_zone);
  const monday = weekOf(search.get("week"), now, zone);
  const range = rangeOf(monday, zone);
  const { data, error, refetch } = useQuery(shiftsQuery(schedule.scheduleid, range.from, range.to));
  const [open, setOpen] = useState<Open>(null);
  const show = (week: string | null) => {
    const next = new URLSearchParams({ schedule: schedule.scheduleid, ...(week !== null && { week }) });
    setSearch(next, { replace: true, keepScroll: true });
  };
  const date = new Intl.DateTimeFormat(locale, { day: "numeric", month: "long", year: "numeric", timeZone: zone });
  const stints = stintsOf(data?.shifts ?? []);
  const gaps = stints.filter(({ userid }) => userid === null).length;
  return (
    <Panel title={schedule.name} lead={oncall.timesIn(schedule.time_zone)} actions={<Actions schedule={schedule} open={setOpen} />}>
      <div className={styles.weekHead}>
        <h3 aria-live="polite">{date.formatRange(range.from, range.to - 1)}</h3>
        <Button variant="default" px={10} aria-label={oncall.previousWeek} onClick={() => show(shifted(monday, -1))}>
          <Back />
        </Button>
        <Button variant="default" onClick={() => show(null)}>
          {oncall.thisWeek}
        </Button>
        <Button variant="default" px={10} aria-label={oncall.nextWeek} className={styles.nextWeek} onClick={() => show(shifted(monday, 1))}>
          <Back />
        </Button>
      </div>
      {!data && (error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />)}
      {data && (
        <div className={styles.week}>
          {gaps > 0 && (
            <p className={styles.gaps} role="status">
              {oncall.gaps(gaps)}
            </p>
          )}
          <WeekChart schedule={schedule} overrides={data.overrides} shifts={stints} monday={monday} />
          <Shifts schedule={schedule} stints={stints} cover={(suggested) => setOpen({ what: "override", suggested })} />
        </div>
      )}
      <Dialogs schedule={schedule} open={open} close={() => setOpen(null)} />
    </Panel>
  );
}

function Actions({ schedule: { scheduleid, name }, open }: { schedule: Schedule; open: (what: Open) => void }) {
  const t = useTexts();
  const { oncall } = t;
  const responds = useMay("respond");
  const edits = useMay("edit");
  return (
    <div className={styles.actions}>
      {responds && (
        <Button variant="default" leftSection={<Plus />} onClick={() => open({ what: "override" })}>
          {oncall.override}
        </Button>
      )}
      {edits && (
        <ActionMenu
          width={200}
          button={
            <Button variant="default" px={10} aria-label={t.maintenance.actions(name)}>
              <More />
            </Button>
          }
        >
          <Menu.Item leftSection={<Pencil />} component={Link} to={`/oncall/schedule/${scheduleid}/edit`}>
            {t.detail.edit}
          </Menu.Item>
          <Menu.Item leftSection={<Globe />} onClick={() => open({ what: "feed" })}>
            {t.feed.title}
          </Menu.Item>
          <Menu.Item leftSection={<Trash />} color="red" onClick={() => open({ what: "delete" })}>
            {t.monitors.delete}
          </Menu.Item>
        </ActionMenu>
      )}
    </div>
  );
}

function Dialogs({ schedule, open, close }: { schedule: Schedule; open: Open; close: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  const { scheduleid, name, feed } = schedule;
  // Creating a URL makes it exist; the dialog then shows it, and not that there is one.
  const [had] = useState(feed);
  if (open?.what === "override") return <OverrideDialog schedule={schedule} suggested={open.suggested} close={close} />;
  if (open?.what === "feed") {
    return (
      <Dialog title={t.feed.titleOf(name)} close={close}>
        <CalendarFeed help={t.feed.help} exists={had || feed} create={() => createFeed(client, scheduleid)} />
      </Dialog>
    );
  }
  if (open?.what !== "delete") return null;
  return (
    <Confirm
      title={t.detail.deleteTitle(name)}
      action={t.monitors.delete}
      close={close}
      run={async () => {
        await deleteSchedule(client, scheduleid);
        showToast(t.detail.deleted(name));
      }}
    >
      {t.oncall.deleteHelp}
    </Confirm>
  );
}

interface ShiftsProps {
  schedule: Schedule;
  stints: readonly Stint[];
  cover: (gap: Suggestion) => void;
}

/** The shifts as a list, in the zone of the schedule and, if that differs, in that of the reader. */
function Shifts({ schedule, stints, cover }: ShiftsProps) {
  const t = useTexts();
  const { oncall } = t;
  const { locale } = useLanguage();
  const nameOf = useMemberName();
  const responds = useMay("respond");
  const client = useQueryClient();
  const [busy, run] = useRun();
  const [own, mine] = [knownZone(schedule.time_zone), readerZone()];
  const differs = !isSameTime(
    stints.flatMap(({ from, to }) => [from, to]),
    own,
    mine,
  );
  const nameOfLayer = (place: number) => schedule.layers[place]?.name || oncall.layer(place + 1);
  const reason = ({ layers, override }: Stint) => (override ? oncall.overrideWord : layers.map(nameOfLayer).join(", "));
  return (
    <ol className={styles.shifts} aria-label={oncall.shifts}>
      {stints.map((stint) => (
        <li key={stint.from} data-gap={stint.userid === null || undefined}>
          <span className="num">
            {spanText(stint, locale, own)}
            {differs && <span className={styles.quiet}> {oncall.yours(spanText(stint, locale, mine))}</span>}
          </span>
          <span>
            <b>{stint.userid === null ? oncall.nobody : nameOf(stint.userid, stint.email)}</b>
            <span className={styles.quiet}> {reason(stint)}</span>
          </span>
          {responds && stint.userid === null && (
            <Button variant="default" size="compact-sm" onClick={() => cover(stint)}>
              {oncall.cover}
            </Button>
          )}
          {responds && stint.override !== null && (
            <Button
              variant="default"
              size="compact-sm"
              loading={busy}
              onClick={() =>
                run(async () => {
                  await deleteOverride(client, stint.override ?? "");
                  showToast(oncall.overrideRemoved);
                })
              }
            >
              {oncall.removeOverride}
            </Button>
          )}
        </li>
      ))}
    </ol>
  );
}
