/** The subscribers of a page: list, search, export, adding and importing; and how visitors subscribe. */
import { Button, Menu, Select, Switch, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { find, type SubscriberKind, type SubscriberState } from "../../../shared/api/closed-sets";
import { notifiersQuery } from "../../../shared/api/notifiers";
import type { Statuspage } from "../../../shared/api/statuspages";
import { deleteSubscriber, subscribersFile, subscribersQuery, testSubscription, type Subscriber } from "../../../shared/api/subscribers";
import { useTexts } from "../../../shared/i18n";
import { Badge, type Tone } from "../../../shared/ui/badge";
import { Confirm } from "../../../shared/ui/confirm";
import { EmptyState } from "../../../shared/ui/empty-state";
import { ErrorNotice } from "../../../shared/ui/error-notice";
import { flag, text } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import page from "../../../shared/ui/form-page.module.css";
import { Hook, Mail, Pencil, Plus, Trash } from "../../../shared/ui/icons";
import { ListRow } from "../../../shared/ui/list-row";
import { LoadMore } from "../../../shared/ui/load-more";
import { Loading } from "../../../shared/ui/loading";
import { Panel } from "../../../shared/ui/page";
import { TeamLink } from "../../../shared/ui/team-link";
import { Moment } from "../../../shared/ui/time";
import { showToast } from "../../../shared/ui/toast";
import { useRun } from "../../../shared/ui/use-run";
import type { PageForm } from "../edit";
import styles from "../statuspages.module.css";
import { ImportDialog, SubscriberDialog } from "./dialogs";
import { kinds, states } from "./values";

const STEPS = [50, 200, 1000];
const DELAY = 300;

const tones: Record<SubscriberState, Tone> = { active: "up", pending: "wait", bouncing: "down", unsubscribed: "rest" };

/** For those who may edit the page: nobody else sees addresses. */
export function Subscribers({ page: stored }: { page: Statuspage }) {
  const t = useTexts();
  const { subscribers: texts } = t.statuspages;
  const [state, setState] = useState<SubscriberState | undefined>();
  const [kind, setKind] = useState<SubscriberKind | undefined>();
  const [q, setQ] = useState("");
  const [searched] = useDebouncedValue(q, DELAY);
  const [limit, setLimit] = useState(50);
  const [asking, ask] = useState<"add" | "import" | Subscriber | null>(null);
  const { data, error, isPending, refetch } = useQuery(subscribersQuery(stored.pageid, { state, kind, q: searched }, limit));
  const isFiltered = state !== undefined || kind !== undefined || searched.trim() !== "";
  const isEmpty = data?.subscribers.length === 0;
  const close = () => ask(null);
  return (
    <Panel title={texts.title} lead={texts.lead}>
      <div className={page.fields}>
        <Actions pageid={stored.pageid} ask={ask} />
        <div className={styles.filters}>
          <TextInput
            type="search"
            aria-label={texts.search}
            placeholder={texts.search}
            maxLength={255}
            value={q}
            onChange={({ currentTarget }) => setQ(currentTarget.value)}
          />
          <Select
            aria-label={texts.state}
            placeholder={texts.anyState}
            data={states.map((value) => ({ value, label: texts.states[value] }))}
            clearable
            value={state ?? null}
            onChange={(value) => setState(find(states, value))}
          />
          <Select
            aria-label={texts.kind}
            placeholder={texts.anyKind}
            data={kinds.map((value) => ({ value, label: texts.kinds[value] }))}
            clearable
            value={kind ?? null}
            onChange={(value) => setKind(find(kinds, value))}
          />
        </div>
        {isPending && <Loading />}
        {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
        {isEmpty && (
          <EmptyState title={isFiltered ? texts.noMatch : texts.none}>
            {!isFiltered && <p className={styles.emptyWords}>{texts.noneHelp}</p>}
          </EmptyState>
        )}
        {data && !isEmpty && (
          <ul aria-label={texts.title}>
            {data.subscribers.map((one) => (
              <Row key={one.subscriberid} subscriber={one} pageid={stored.pageid} edit={() => ask(one)} />
            ))}
          </ul>
        )}
        {data && <LoadMore shown={data.subscribers.length} limit={limit} steps={STEPS} show={setLimit} />}
      </div>
      {asking === "import" && <ImportDialog pageid={stored.pageid} close={close} />}
      {asking !== null && asking !== "import" && (
        <SubscriberDialog page={stored} subscriber={asking === "add" ? undefined : asking} close={close} />
      )}
    </Panel>
  );
}

function Actions({ pageid, ask }: { pageid: string; ask: (what: "add" | "import") => void }) {
  const { subscribers: texts } = useTexts().statuspages;
  const [busy, run] = useRun();
  return (
    <div className={styles.wrapped}>
      <Button size="xs" leftSection={<Plus />} onClick={() => ask("add")}>
        {texts.add}
      </Button>
      <Button variant="default" size="xs" onClick={() => ask("import")}>
        {texts.import}
      </Button>
      <Button variant="default" size="xs" component={TeamLink} href={subscribersFile(pageid)} download>
        {texts.export}
      </Button>
      <Button
        variant="default"
        size="xs"
        loading={busy}
        onClick={() =>
          run(async () => {
            await testSubscription(pageid);
            showToast(texts.tested);
          })
        }
      >
        {texts.test}
      </Button>
    </div>
  );
}

interface RowProps {
  subscriber: Subscriber;
  pageid: string;
  edit: () => void;
}

function Row({ subscriber, pageid, edit }: RowProps) {
  const t = useTexts();
  const { subscribers: texts } = t.statuspages;
  const client = useQueryClient();
  const [deleting, setDeleting] = useState(false);
  const { kind, state, source, created, last_delivery, failures } = subscriber;
  const address = subscriber.address || texts.erased;
  const mayChange = state !== "unsubscribed";
  // That an address was unsubscribed, or the webhook of a visitor, is remembered.
  const mayDelete = mayChange || (kind !== "email" && source !== "self");
  return (
    <>
      <ListRow
        name={address}
        face={kind === "email" ? <Mail /> : <Hook />}
        badges={<Badge tone={tones[state]}>{texts.states[state]}</Badge>}
        menu={
          mayDelete && (
            <>
              {mayChange && (
                <Menu.Item leftSection={<Pencil />} onClick={edit}>
                  {t.statuspages.edit}
                </Menu.Item>
              )}
              <Menu.Item leftSection={<Trash />} color="red" onClick={() => setDeleting(true)}>
                {t.monitors.delete}
              </Menu.Item>
            </>
          )
        }
      >
        {texts.kinds[kind]} · {texts.sources[source]} · <Moment at={created} />
        {last_delivery && (
          <>
            {" "}
            · {texts.lastDelivery} <Moment at={last_delivery} />
          </>
        )}
        {failures > 0 && ` · ${texts.failures(failures)}`}
      </ListRow>
      {deleting && (
        <Confirm
          title={t.detail.deleteTitle(address)}
          action={t.monitors.delete}
          close={() => setDeleting(false)}
          run={async () => {
            await deleteSubscriber(client, pageid, subscriber.subscriberid);
            showToast(t.detail.deleted(address));
          }}
        >
          {texts.deleteHelp}
        </Confirm>
      )}
    </>
  );
}

const ways = ["email", "webhook", "chat", "feeds", "choose"] as const;

/** Saved with the page. */
export function SubscribeFields({ form }: { form: PageForm }) {
  const { subscribers: texts } = useTexts().statuspages;
  const { data: notifiers = [] } = useQuery(notifiersQuery);
  const sender = form.values["subscribe.sender"];
  const senders = notifiers.filter(({ type }) => type === "email").map(({ notifierid, name }) => ({ value: notifierid, label: name }));
  const isKnown = sender === "" || senders.some(({ value }) => value === sender);
  return (
    <Panel title={texts.ways}>
      <div className={page.fields}>
        {ways.map((way) => (
          <Switch key={way} {...flag(form, `subscribe.${way}`)} label={texts.wayNames[way]} />
        ))}
        <FieldPair wide>
          <Select
            name="subscribe.sender"
            label={texts.sender}
            description={texts.senderHelp}
            data={[{ value: "", label: texts.ownMail }, ...senders, ...(isKnown ? [] : [{ value: sender, label: sender }])]}
            allowDeselect={false}
            value={sender}
            error={form.errors["subscribe.sender"]}
            onChange={(value) => form.set("subscribe.sender", value ?? "")}
          />
          <TextInput
            {...text(form, "subscribe.reply_to")}
            type="email"
            label={texts.replyTo}
            description={texts.replyToHelp}
            maxLength={254}
            autoComplete="off"
          />
        </FieldPair>
      </div>
    </Panel>
  );
}
