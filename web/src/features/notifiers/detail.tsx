/** One notifier: a test, its deliveries and the monitors that use it. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { find } from "../../shared/api/closed-sets";
import { change, monitorsQuery, type MonitorRow } from "../../shared/api/monitors";
import { receiverOf } from "../../shared/api/notifiers";
import { useMay, useMe } from "../../shared/api/session";
import { hoursText } from "../../shared/lib/hours";
import { useLanguage, useTexts } from "../../shared/i18n";
import { Link, useNavigate, useParams } from "../../shared/router";
import { ActionMenu } from "../../shared/ui/action-menu";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { CopyLine } from "../../shared/ui/copy-line";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { ExpandableText } from "../../shared/ui/expandable-text";
import { Cross, More, Pause, Pencil, Play, Send, Trash } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { May } from "../../shared/ui/may";
import { NotFound } from "../../shared/ui/not-found";
import { DetailLayout } from "../../shared/ui/detail-layout";
import { Page, Panel } from "../../shared/ui/page";
import { Ago, Moment } from "../../shared/ui/time";
import { showToast } from "../../shared/ui/toast";
import { useErrorMessage } from "../../shared/ui/error-message";
import { weekdayName } from "../../shared/ui/toggles";
import { VerifyAddress } from "../../shared/ui/verify-address";
import { REFETCH_INTERVAL, notifiersQuery, offReason, remove, rotate, save, test, type Notifier } from "./data";
import { Convert } from "./convert";
import { Deliveries } from "./deliveries";
import { HealthBadge, useKindName } from "./kind";
import { services } from "./kinds";
import styles from "./notifiers.module.css";
import { TestAnswer, type Answer } from "./test-answer";

export function Component() {
  const t = useTexts();
  const { id = "" } = useParams();
  // The service turns a notifier off when its receiver is gone, which the page should show.
  const { data, error, isPending, refetch } = useQuery({ ...notifiersQuery, refetchInterval: REFETCH_INTERVAL });
  const found = data?.find((notifier) => notifier.notifierid === id);
  if (!data) {
    return <Page title={t.notifiers.title}>{isPending ? <Loading /> : <ErrorNotice error={error} retry={() => void refetch()} />}</Page>;
  }
  if (found) return <Detail key={id} notifier={found} />;
  return <NotFound instead={["/notifiers", t.notifiers.title]} />;
}

function Detail({ notifier }: { notifier: Notifier }) {
  const t = useTexts();
  const word = useKindName();
  const { userid } = useMe();
  const edits = useMay("edit");
  const [answer, setAnswer] = useState<Answer | null>(null);
  // Only its user may change a personal notifier.
  const isOwn = !notifier.account || notifier.account.userid === userid;
  const changeable = edits && isOwn;
  const converts = find(services, notifier.webhook?.template.toLowerCase() ?? null);
  return (
    <DetailLayout
      title={notifier.name}
      badge={<HealthBadge notifier={notifier} />}
      back={["/notifiers", t.notifiers.title]}
      under={
        <>
          <span>{word(notifier)}</span>
          {receiverOf(notifier) !== "" && <span className="code">{receiverOf(notifier)}</span>}
          <Limits notifier={notifier} />
        </>
      }
      actions={<Actions notifier={notifier} changeable={changeable} report={setAnswer} />}
    >
      {isOwn && notifier.account?.email_verified === false && <VerifyAddress />}
      {!notifier.isactive && <TurnedOff notifier={notifier} changeable={changeable} />}
      {notifier.health.state === "failing" && <Failing notifier={notifier} />}
      {answer && <TestAnswer answer={answer} />}
      <Deliveries id={notifier.notifierid} />
      <Linked notifier={notifier} />
      {changeable && converts && <Convert notifier={notifier} type={converts} />}
      {notifier.type === "webhook" && (notifier.redacted ? <HiddenSignature /> : <Signature id={notifier.notifierid} />)}
    </DetailLayout>
  );
}

/** What it does not get, or only later. */
function Limits({ notifier: { min_severity, quiet } }: { notifier: Notifier }) {
  const { contacts, messageRules } = useTexts();
  const { locale } = useLanguage();
  const hours = quiet?.hours.map((span) => hoursText(span, (place) => weekdayName(place, locale, "short"))).join(", ");
  return (
    <>
      {min_severity !== "info" && <span>{contacts.atLeast[min_severity]}</span>}
      {quiet && hours && (
        <span>
          {messageRules.quiet}: {hours} ({quiet.time_zone})
        </span>
      )}
    </>
  );
}

interface ActionsProps {
  notifier: Notifier;
  changeable: boolean;
  report: (answer: Answer | null) => void;
}

function Actions({ notifier, changeable, report }: ActionsProps) {
  const t = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const [confirming, setConfirming] = useState(false);
  const { notifierid, isactive } = notifier;
  const runTest = async () => {
    setBusy(true);
    report(null);
    try {
      report(await test({ notifierid }));
    } catch (error) {
      report({ text: errorMessage(error), failed: true });
    } finally {
      setBusy(false);
    }
  };
  const turn = () => save(client, { notifierid, isactive: !isactive }).catch((error: unknown) => showToast(errorMessage(error), true));
  const sendTest = (
    <May do="respond">
      <Button variant="default" leftSection={<Send />} loading={busy} onClick={() => void runTest()}>
        {t.notifiers.test}
      </Button>
    </May>
  );
  if (!changeable) return sendTest;
  return (
    <>
      {sendTest}
      <Button variant="default" leftSection={<Pencil />} component={Link} to={`/notifier/${notifierid}/edit`}>
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
        <Menu.Item leftSection={isactive ? <Pause /> : <Play />} onClick={() => void turn()}>
          {isactive ? t.notifiers.turnOff : t.notifiers.turnOn}
        </Menu.Item>
        <Menu.Item leftSection={<Trash />} color="red" onClick={() => setConfirming(true)}>
          {t.monitors.delete}
        </Menu.Item>
      </ActionMenu>
      {confirming && (
        <Confirm
          title={t.detail.deleteTitle(notifier.name)}
          action={t.monitors.delete}
          close={() => setConfirming(false)}
          run={async () => {
            await remove(client, notifierid);
            showToast(t.detail.deleted(notifier.name));
            await navigate("/notifiers", { replace: true });
          }}
        >
          {t.notifiers.deleteHelp}
        </Confirm>
      )}
    </>
  );
}

function TurnedOff({ notifier, changeable }: { notifier: Notifier; changeable: boolean }) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const turnOn = () =>
    save(client, { notifierid: notifier.notifierid, isactive: true }).catch((error: unknown) => showToast(errorMessage(error), true));
  return (
    <div className={styles.off}>
      <div>
        <b>{t.notifiers.offTitle}</b>
        <p>
          {offReason(notifier, t)}
          {notifier.disabled && (
            <>
              {" · "}
              <Ago at={notifier.disabled} />
            </>
          )}
        </p>
      </div>
      {changeable && (
        <Button variant="default" size="xs" leftSection={<Play />} onClick={() => void turnOn()}>
          {t.notifiers.turnOn}
        </Button>
      )}
    </div>
  );
}

/** Since when nothing arrives, and the newest response; the first failed message may be far down the list. */
function Failing({ notifier: { health } }: { notifier: Notifier }) {
  const t = useTexts();
  return (
    <div className={styles.broken} role="status">
      <b>
        {t.notifiers.failingTitle} {health.since && <Moment at={health.since} />}
      </b>
      <ExpandableText text={health.error ?? ""} />
    </div>
  );
}

const MAX_SHOWN = 24;

/** The monitors that use it, each with a button to remove it there, and one to add it everywhere. */
function Linked({ notifier }: { notifier: Notifier }) {
  const t = useTexts();
  const { data } = useQuery(monitorsQuery);
  const [confirming, setConfirming] = useState(false);
  const linked = data?.filter((monitor) => monitor.notifiers.includes(notifier.notifierid));
  const left = (data?.length ?? 0) - (linked?.length ?? 0);
  const edits = useMay("edit");
  const none = edits ? `${t.notifiers.linkedNone} ${t.notifiers.linkedNoneHelp}` : t.notifiers.linkedNone;
  return (
    <Panel title={t.notifiers.linked} lead={linked?.length === 0 ? none : undefined}>
      {!linked && <Loading />}
      {linked && linked.length > 0 && <LinkedList linked={linked} notifier={notifier} />}
      {edits && left > 0 && (
        <Button variant="default" onClick={() => setConfirming(true)}>
          {t.notifiers.applyToAll}
        </Button>
      )}
      {confirming && <ApplyToAll notifier={notifier} count={left} close={() => setConfirming(false)} />}
    </Panel>
  );
}

function LinkedList({ linked, notifier }: { linked: MonitorRow[]; notifier: Notifier }) {
  const t = useTexts();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const remove = ({ monitorid, name }: MonitorRow) =>
    change(client, { ids: [monitorid], notifiers_remove: [notifier.notifierid] })
      .then(() => showToast(t.notifiers.unlinked(name)))
      .catch((error: unknown) => showToast(errorMessage(error), true));
  return (
    <ul className={styles.linked}>
      {linked.slice(0, MAX_SHOWN).map((monitor) => (
        <li key={monitor.monitorid}>
          <Link to={`/monitor/${monitor.monitorid}`}>{monitor.name}</Link>
          <May do="edit">
            <button type="button" aria-label={t.notifiers.unlink(monitor.name)} onClick={() => void remove(monitor)}>
              <Cross size={14} />
            </button>
          </May>
        </li>
      ))}
      {linked.length > MAX_SHOWN && <li className={styles.quiet}>{t.notifiers.andMore(linked.length - MAX_SHOWN)}</li>}
    </ul>
  );
}

function ApplyToAll({ notifier, count, close }: { notifier: Notifier; count: number; close: () => void }) {
  const t = useTexts();
  const client = useQueryClient();
  return (
    <Confirm
      title={t.notifiers.applyTitle(count)}
      action={t.notifiers.applyToAll}
      color="blue"
      close={close}
      run={async () => {
        const { changed } = await change(client, { filter: { all: true }, notifiers_add: [notifier.notifierid] });
        showToast(t.notifiers.applied(changed));
      }}
    >
      {t.notifiers.applyHelp(notifier.name)}
    </Confirm>
  );
}

function Signature({ id }: { id: string }) {
  const t = useTexts();
  const [confirming, setConfirming] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Panel title={t.notifiers.signature} lead={t.notifiers.signatureLead}>
      {secret === null ? (
        <Button variant="default" onClick={() => setConfirming(true)}>
          {t.notifiers.rotate}
        </Button>
      ) : (
        <div className={styles.secret}>
          <p>{t.notifiers.once}</p>
          <CopyLine label={t.notifiers.secret} value={secret} />
        </div>
      )}
      {confirming && (
        <Confirm
          title={t.notifiers.rotateTitle}
          action={t.notifiers.rotate}
          close={() => setConfirming(false)}
          run={async () => setSecret(await rotate(id))}
        >
          {t.notifiers.rotateHelp}
        </Confirm>
      )}
    </Panel>
  );
}

/** In its place for users who may not edit: the service does not show them secrets. */
function HiddenSignature() {
  const t = useTexts();
  return (
    <Panel title={t.notifiers.signature} lead={t.notifiers.signatureLead}>
      <p>
        {t.notifiers.secret} <Badge tone="rest">{t.common.hidden}</Badge>
      </p>
    </Panel>
  );
}
