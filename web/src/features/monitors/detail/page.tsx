/** One monitor: its state, its history and its actions. */
import { Button, Menu } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, isNotFound } from "../../../shared/api/error";
import type { Cover } from "../../../shared/api/maintenances";
import { millis } from "../../../shared/lib/time";
import { useLanguage, useTexts } from "../../../shared/i18n";
import { Link, useNavigate, useParams } from "../../../shared/router";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { Badge } from "../../../shared/ui/badge";
import { Confirm } from "../../../shared/ui/confirm";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { BellOff, Chevron, More, Pause, Pencil, Play, Refresh, Trash, Duplicate } from "../../../shared/ui/icons";
import { ExpandableText } from "../../../shared/ui/expandable-text";
import { LoadMore } from "../../../shared/ui/load-more";
import { Loading } from "../../../shared/ui/loading";
import { May } from "../../../shared/ui/may";
import { NotFound } from "../../../shared/ui/not-found";
import { DetailLayout } from "../../../shared/ui/detail-layout";
import { Page, Panel } from "../../../shared/ui/page";
import { Milliseconds, Moment } from "../../../shared/ui/time";
import { showToast } from "../../../shared/ui/toast";
import { useErrorMessage } from "../../../shared/ui/error-message";
import { alertsOfQuery } from "../alerts/data";
import { AlertRows } from "../alerts/rows";
import { HeartbeatBars } from "../heartbeat-bars";
import {
  acceptValues,
  beatsQuery,
  checkNow,
  isCheckable,
  kindOf,
  MAX_BARS,
  monitorQuery,
  remove,
  save,
  stateOf,
  stateOfBeat,
  targetOf,
  typeName,
  type Heartbeat,
  type Monitor,
} from "../data";
import { MuteItems, useMute } from "../mute";
import { useCoverText, useStandings } from "../planned";
import { hasRemoteRegions, LOCAL } from "../regions";
import { Phases } from "../check-result";
import { StatusBadge, StatusMark } from "../status";
import { CertificatePanel } from "./certificate";
import styles from "./detail.module.css";
import { MonitorFacts } from "./facts";
import { DownUnnotified, Notified } from "./notified";
import { ResponseTimePanel } from "./response-time";
import { RegionsPanel } from "./regions";
import { Pings } from "./pings";
import { PushLines } from "./push";
import { LatestEvidence, Unhealthy, useReason } from "./unhealthy";
import { Uptime } from "./uptime";

/** Bars across the full width of a phone. */
const MAX_BARS_ON_PHONES = 48;
/** How many checks the list shows at first, and after "Show older". */
const LOG_LIMITS = [50, MAX_BARS] as const;

export function Component() {
  const t = useTexts();
  const { id = "" } = useParams();
  const { data, error, isPending, refetch } = useQuery(monitorQuery(id));
  if (isPending || (!data && !isNotFound(error))) {
    return <Page title={t.nav.monitors}>{isPending ? <Loading /> : <ErrorNotice error={error} retry={() => void refetch()} />}</Page>;
  }
  // It may have been deleted just now, while its data is still cached.
  if (!data || isNotFound(error)) return <NotFound instead={["/", t.nav.monitors]} />;
  return <Detail key={id} monitor={data} />;
}

function Detail({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  useReason(monitor);
  const state = stateOf(monitor);
  const url = monitor.http?.url;
  return (
    <DetailLayout
      title={monitor.name}
      badge={<StatusBadge state={state} />}
      back={["/", t.nav.monitors]}
      under={
        <>
          <span>{typeName(monitor.type, t)}</span>
          {url ? (
            <a href={url} target="_blank" rel="noreferrer noopener">
              {url}
            </a>
          ) : (
            targetOf(monitor) !== "" && <span className="code">{targetOf(monitor)}</span>
          )}
          {monitor.upside_down_mode && (
            <span title={t.monitors.invertedHelp}>
              <Badge tone="accent">{t.monitors.inverted}</Badge>
            </span>
          )}
          {monitor.tags.map((tag) => (
            <Link key={tag} to={`/?tag=${encodeURIComponent(tag)}`} className={styles.tag}>
              {tag}
            </Link>
          ))}
        </>
      }
      actions={<Actions monitor={monitor} />}
    >
      {monitor.description !== "" && <p className={styles.about}>{monitor.description}</p>}
      <DownUnnotified monitor={monitor} />
      {monitor.maintenance && <CoverNotice monitor={monitor} cover={monitor.maintenance} />}
      <Unhealthy monitor={monitor} />
      {/* Those who may not edit do not see the URL. */}
      {monitor.type === "api" && monitor.push_url && <PushLines monitor={monitor} />}
      {monitor.type === "api" && <Pings id={monitor.monitorid} />}
      {state === "blocked" && monitor.blocked && (
        <p className={styles.blocked} role="status">
          {t.detail.blocked(monitor.blocked)}
        </p>
      )}
      <AcceptValues monitor={monitor} />
      <MonitorFacts monitor={monitor} />
      <Recent monitor={monitor} />
      <LatestEvidence monitor={monitor} />
      {hasRemoteRegions(monitor) && <RegionsPanel monitor={monitor} room={MAX_BARS} />}
      <ResponseTimePanel monitor={monitor} />
      <Uptime id={monitor.monitorid} />
      <CertificatePanel monitor={monitor} />
      <Notified monitor={monitor} />
      <Alerts id={monitor.monitorid} />
    </DetailLayout>
  );
}

/** Shown while a pinned value differs from the accepted one. */
function AcceptValues({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const pinned = monitor.assertions.some(({ comparison, target }) => comparison === "unchanged" && target === "pinned");
  if (!pinned || monitor.reason !== "changed") return null;
  const accept = () => {
    setBusy(true);
    acceptValues(client, monitor.monitorid)
      .then(() => showToast(t.assertions.accepted))
      .catch((error: unknown) => showToast(errorMessage(error), true))
      .finally(() => setBusy(false));
  };
  return (
    <May do="edit">
      <div className={styles.accept}>
        <Button variant="default" loading={busy} onClick={accept}>
          {t.assertions.accept}
        </Button>
      </div>
    </May>
  );
}

function Actions({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState<"check" | "pause" | null>(null);
  const [confirming, setConfirming] = useState(false);
  const { monitorid } = monitor;
  const mute = useMute(monitor);
  const run = (what: "check" | "pause", act: () => Promise<unknown>) => {
    setBusy(what);
    act()
      .catch((error: unknown) => {
        // If the session has ended, the login page says so.
        if (!(error instanceof ApiError && error.signedOut)) showToast(errorMessage(error), true);
      })
      .finally(() => setBusy(null));
  };
  const check = async () => {
    const beat = await checkNow(monitorid);
    showToast(t.detail.checked(beat.message), beat.status === "down");
    await client.invalidateQueries({ queryKey: ["beats", monitorid] });
    await client.invalidateQueries({ queryKey: monitorQuery(monitorid).queryKey });
    await client.invalidateQueries({ queryKey: ["certificate", monitorid] });
  };
  return (
    <>
      {isCheckable(monitor) && (
        <May do="respond">
          <Button variant="default" leftSection={<Refresh />} loading={busy === "check"} onClick={() => run("check", check)}>
            {t.detail.check}
          </Button>
        </May>
      )}
      <May do="respond">
        <ActionMenu
          width={230}
          button={
            <Button variant="default" leftSection={<BellOff />} rightSection={<Chevron />} loading={mute.busy}>
              {t.maintenance.mute}
            </Button>
          }
        >
          <MuteItems mute={mute} />
        </ActionMenu>
      </May>
      {mute.dialogs}
      <May do="edit">
        <Button
          variant="default"
          leftSection={monitor.isactive ? <Pause /> : <Play />}
          loading={busy === "pause"}
          onClick={() => run("pause", () => save(client, { monitorid, isactive: !monitor.isactive }))}
        >
          {monitor.isactive ? t.monitors.pause : t.monitors.resume}
        </Button>
        <Button variant="default" leftSection={<Pencil />} component={Link} to={`/monitor/${monitorid}/edit`}>
          {t.detail.edit}
        </Button>
        <ActionMenu
          width={180}
          button={
            <Button variant="default" px={10} aria-label={t.monitors.moreActions}>
              <More />
            </Button>
          }
        >
          <Menu.Item leftSection={<Duplicate />} component={Link} to={`/monitor/new?from=${monitorid}`}>
            {t.detail.duplicate}
          </Menu.Item>
          <Menu.Item leftSection={<Trash />} color="red" onClick={() => setConfirming(true)}>
            {t.monitors.delete}
          </Menu.Item>
        </ActionMenu>
      </May>
      {confirming && (
        <Confirm
          title={t.detail.deleteTitle(monitor.name)}
          action={t.monitors.delete}
          typed={monitor.name}
          close={() => setConfirming(false)}
          run={async () => {
            await remove(client, monitorid);
            showToast(t.detail.deleted(monitor.name));
            await navigate("/", { replace: true });
          }}
        >
          {t.detail.deleteHelp}
        </Confirm>
      )}
    </>
  );
}

const NO_BEATS: Heartbeat[] = [];

function Recent({ monitor }: { monitor: Monitor }) {
  const t = useTexts();
  const { data, error, isPending, refetch } = useQuery(beatsQuery(monitor.monitorid, MAX_BARS));
  const beats = useStandings(data ?? NO_BEATS, monitor.maintenance);
  const [open, setOpen] = useState(false);
  const phone = useMediaQuery("(max-width: 720px)");
  return (
    <Panel title={t.detail.recent} lead={monitor.last_message === "" ? undefined : <Last monitor={monitor} />}>
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      <div className={styles.bars}>
        <HeartbeatBars beats={beats} room={phone ? MAX_BARS_ON_PHONES : MAX_BARS} height={32} />
      </div>
      <BarsLegend beats={beats} />
      {!isPending && data?.length === 0 && <p className={styles.quiet}>{monitor.type === "api" ? t.detail.noReports : t.detail.noBeats}</p>}
      {data && data.length > 0 && (
        <details className={styles.log} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{t.detail.showBeats}</summary>
          {open && <Log beats={beats} />}
        </details>
      )}
    </Panel>
  );
}

/** The bars that are neither up nor down, in words. */
function BarsLegend({ beats }: { beats: readonly Heartbeat[] }) {
  const t = useTexts();
  const kinds = (["maintenance", "unreachable"] as const).filter((kind) => beats.some((beat) => kindOf(beat) === kind));
  if (kinds.length === 0) return null;
  return (
    <ul className={styles.legend}>
      {kinds.map((kind) => (
        <li key={kind}>
          <i data-mark={kind} aria-hidden="true" />
          {t.monitors.results[kind]}
        </li>
      ))}
    </ul>
  );
}

function Last({ monitor }: { monitor: Monitor }) {
  return (
    <span className={monitor.status === "down" ? styles.bad : undefined}>
      <ExpandableText text={monitor.last_message} />
    </span>
  );
}

function Log({ beats }: { beats: readonly Heartbeat[] }) {
  const t = useTexts();
  const [limit, setLimit] = useState<number>(LOG_LIMITS[0]);
  const newest = beats.toReversed().slice(0, limit);
  return (
    <>
      <ol className={styles.beats}>
        {newest.map((beat) => (
          <li key={beat.at}>
            <StatusMark state={kindOf(beat) === "degraded" ? "degraded" : stateOfBeat(beat.status)} size={12} />
            <span className="sr-only">{t.monitors.results[beat.status]}</span>
            <span className={styles.when}>
              <Moment at={beat.at} />
            </span>
            <span className={styles.message}>
              {beat.status !== kindOf(beat) && <span className={styles.beatKind}>{t.monitors.results[kindOf(beat)]}</span>}
              <ExpandableText text={beat.message} />
              {beat.regions.length > 0 && <RegionResults beat={beat} />}
            </span>
            <span className={styles.took}>
              <Phases beat={beat} />
            </span>
            <span className={`${styles.load ?? ""} num`}>
              <Milliseconds ms={beat.load_time} />
            </span>
          </li>
        ))}
      </ol>
      <LoadMore shown={newest.length} limit={limit} steps={LOG_LIMITS} show={setLimit} />
    </>
  );
}

/** The result and response time of each region. */
function RegionResults({ beat }: { beat: Heartbeat }) {
  const t = useTexts();
  const { locale } = useLanguage();
  return (
    <span className={styles.regions}>
      {beat.regions.map(({ region, status, load_time }) => (
        <span key={region} data-status={status}>
          {region === LOCAL ? t.regions.local : region}{" "}
          {status === "up" && typeof load_time === "number" ? millis(load_time, locale) : t.monitors.results[status]}
        </span>
      ))}
    </span>
  );
}

/** Until when which window covers the monitor. */
function CoverNotice({ monitor, cover }: { monitor: Monitor; cover: Cover }) {
  const { maintenance } = useTexts();
  const text = useCoverText(cover);
  const mute = useMute(monitor);
  return (
    <div className={styles.cover} role="status">
      <span>
        <b>{text}</b> · <Link to={`/maintenance/${cover.maintenanceid}`}>{cover.name}</Link>
      </span>
      {mute.end && (
        <Button variant="default" size="xs" loading={mute.busy} onClick={mute.end}>
          {maintenance.end}
        </Button>
      )}
      {mute.dialogs}
    </div>
  );
}

function Alerts({ id }: { id: string }) {
  const t = useTexts();
  const { data, error, refetch } = useQuery(alertsOfQuery(id));
  return (
    <Panel title={t.nav.alerts} flush>
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data?.length === 0 && <p className={styles.none}>{t.detail.noAlerts}</p>}
      {data && data.length > 0 && <AlertRows alerts={data} named={false} />}
    </Panel>
  );
}
