/** A preview of the message, rendered by the service while the form is edited. */
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { ApiError } from "../../shared/api/error";
import { eventTypes, type EventType } from "../../shared/api/events";
import { useTexts } from "../../shared/i18n";
import { translate } from "../../shared/i18n/service";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import { MailFrame } from "./mail-frame";
import styles from "./notifiers.module.css";
import type { Notifier } from "./data";
import { formOf, isService } from "./kinds";
import { ServicePreview } from "./service-preview";
import { bodyOf, type Values } from "./values";

/** A test is not about a monitor; its text is fixed. */
const previewed = eventTypes.filter((type) => type !== "notifier.test");

/** Long enough that typing does not send a request for every character. */
const DEBOUNCE = 300;

export function Preview({ values, was }: { values: Values; was?: Notifier | undefined }) {
  const t = useTexts();
  const [asText, setAsText] = useState(false);
  const [event, setEvent] = useState<EventType>("monitor.down");
  const [body] = useDebouncedValue({ ...previewBody(values, was), event }, DEBOUNCE);
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
          choices={previewed.map((type) => [type, t.notifiers.previews[type]] as const)}
          chosen={event}
          choose={setEvent}
        />
      </div>
      {error ? (
        <TemplateError error={error} />
      ) : data ? (
        <div className={styles.preview}>
          {data.subject && <p className={styles.subject}>{data.subject}</p>}
          {data.html && (
            <div className={styles.which}>
              <PreviewForm text={asText} choose={setAsText} />
            </div>
          )}
          {isService(values.kind) && data.requests ? (
            <ServicePreview type={values.kind} event={event} requests={data.requests} />
          ) : data.html && !asText ? (
            <MailFrame html={data.html} title={t.notifiers.preview} />
          ) : (
            <pre tabIndex={0} role="group" aria-label={t.notifiers.preview}>
              {pretty(data.body, data.content_type)}
            </pre>
          )}
        </div>
      ) : (
        <Loading />
      )}
    </Panel>
  );
}

/** A mail has two parts; programs show the plain text if they cannot show the other. */
function PreviewForm({ text, choose }: { text: boolean; choose: (text: boolean) => void }) {
  const t = useTexts();
  return (
    <SegmentedControl
      label={t.notifiers.previewAs}
      choices={[
        ["html", t.notifiers.html],
        ["text", t.notifiers.plainText],
      ]}
      chosen={text ? "text" : "html"}
      choose={(part) => choose(part === "text")}
    />
  );
}

/** Only the fields that affect the message. */
function previewBody(values: Values, was: Notifier | undefined) {
  const { name, email, webhook, ...others } = bodyOf(values);
  if (isService(values.kind)) {
    const { kind } = values;
    // The stored secrets determine which requests there are; they are not returned.
    return { type: kind, name: name ?? "", ...(was && { notifierid: was.notifierid }), [kind]: others[kind] };
  }
  return {
    type: formOf(values.kind).type,
    name: name ?? "",
    ...(email && { email: { subject: email.subject ?? "" } }),
    ...(webhook && { webhook: { template: webhook.template ?? "", url: webhook.url ?? "" } }),
  };
}

/** Shows what is wrong with the template, which is half typed most of the time. */
function TemplateError({ error }: { error: Error }) {
  const { service } = useTexts();
  const [field] = error instanceof ApiError ? Object.values(error.fields) : [];
  return field === undefined ? <ErrorNotice error={error} /> : <p className={styles.refused}>{translate(field, service)}</p>;
}

export function pretty(body: string, type: string): string {
  if (!type.includes("json")) return body.trim();
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
