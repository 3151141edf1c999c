/** What the receiver would get, as the service itself writes it, while it is typed. */
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { ApiError } from "../../shared/api/error";
import { useTexts } from "../../shared/i18n";
import { translate } from "../../shared/i18n/refusals";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import styles from "./notifiers.module.css";
import { bodyOf, type Values } from "./values";

const events = ["monitor.down", "monitor.up", "monitor.certificate_expiring"] as const;
type Event = (typeof events)[number];

/** Long enough that typing does not send a request for every character. */
const PAUSE = 300;

export function Preview({ values }: { values: Values }) {
  const t = useTexts();
  const [event, setEvent] = useState<Event>("monitor.down");
  const [body] = useDebouncedValue({ ...asked(values), event }, PAUSE);
  const { data, error } = useQuery({
    queryKey: ["preview", body],
    queryFn: ({ signal }) => unwrap(POST("/api/v1/notifier/preview", { body, signal })),
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  });
  return (
    <Panel title={t.notifiers.preview} lead={t.notifiers.previewLead}>
      <div className={styles.which}>
        <SegmentedControl
          label={t.notifiers.previewOf}
          choices={events.map((each) => [each, t.notifiers.previews[each]] as const)}
          chosen={event}
          choose={setEvent}
        />
      </div>
      {error ? (
        <Refused error={error} />
      ) : data ? (
        <div className={styles.preview}>
          {data.subject && <p className={styles.subject}>{data.subject}</p>}
          <pre tabIndex={0} role="group" aria-label={t.notifiers.preview}>
            {pretty(data.body, data.content_type)}
          </pre>
        </div>
      ) : (
        <Loading />
      )}
    </Panel>
  );
}

/** Only what decides how a message looks. */
function asked(values: Values) {
  const { type, name, email, webhook } = bodyOf(values);
  return {
    type: type ?? "",
    name: name ?? "",
    ...(email && { email: { subject: email.subject ?? "" } }),
    ...(webhook && { webhook: { template: webhook.template ?? "", url: webhook.url ?? "" } }),
  };
}

/** Shows what is wrong with the template, which is half typed most of the time. */
function Refused({ error }: { error: Error }) {
  const { refusals } = useTexts();
  const [field] = error instanceof ApiError ? Object.values(error.fields) : [];
  return field === undefined ? <ErrorNotice error={error} /> : <p className={styles.refused}>{translate(field, refusals)}</p>;
}

export function pretty(body: string, type: string): string {
  if (!type.includes("json")) return body.trim();
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
