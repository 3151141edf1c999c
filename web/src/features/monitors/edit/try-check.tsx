/** Runs the check once with the current values; nothing is saved. The result belongs to the values that were tested. */
import { Button } from "@mantine/core";
import { useState } from "react";
import { ApiError } from "../../../shared/api/error";
import { useTexts } from "../../../shared/i18n";
import { FormError } from "../../../shared/ui/error-notice";
import { useErrorMessage } from "../../../shared/ui/error-message";
import type { Form } from "../../../shared/ui/form";
import { Panel } from "../../../shared/ui/page";
import { CheckResult } from "../check-result";
import { tryOut, type Evidence, type Heartbeat, type SaveMonitor } from "../data";
import { hasScheme } from "../types/url";
import { MAX_ASSERTIONS, type AssertionValues } from "./assertion";
import page from "../../../shared/ui/form-page.module.css";
import styles from "./edit.module.css";
import { TriedAssertions } from "./tried-assertions";
import { bodyOf, check, probed, type Values } from "./values";

/** A result, and what it is the result of. */
export interface Tested {
  body: SaveMonitor;
  beat: Heartbeat;
  evidence: Evidence | null;
  /** The conditions that were tested. */
  assertions: readonly AssertionValues[];
}

/** Whether something else was tested than what is in the form now. */
export function isOutdated(tested: Tested | null, body: SaveMonitor): boolean {
  return tested !== null && probed(tested.body) !== probed(body);
}

interface Props {
  form: Form<Values>;
  id: string | undefined;
  tested: Tested | null;
  setTested: (tested: Tested | null) => void;
}

export function TryCheck({ form, id, tested, setTested }: Props) {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const run = async (values: Values) => {
    const found = check(values, t);
    if (Object.keys(found).length > 0) return form.refuse(found);
    setBusy(true);
    setFault(null);
    setTested(null);
    try {
      const body = bodyOf({ ...values, name: values.name || "?" }, id);
      setTested({ body, assertions: values.assertions, ...(await tryOut(body)) });
    } catch (error) {
      if (error instanceof ApiError && Object.keys(error.fields).length > 0) form.refuse(error.fields);
      else setFault(errorMessage(error));
    } finally {
      setBusy(false);
    }
  };
  const tryHttp = (url: string) => {
    form.set("http.url", url);
    void run({ ...form.values, "http.url": url });
  };
  const plain = tested && plainUrl(form.values["http.url"], tested);
  return (
    <Panel title={t.form.tryTitle} lead={tested ? undefined : t.form.tryHelp}>
      <div className={page.fields}>
        {tested && <Result form={form} tested={tested} outdated={isOutdated(tested, bodyOf(form.values, id))} />}
        {plain && (
          <div className={styles.plain}>
            <p>{t.form.httpsFailed}</p>
            <Button variant="default" onClick={() => tryHttp(plain)}>
              {t.form.tryHttp(plain)}
            </Button>
          </div>
        )}
        <FormError text={fault} />
        <Button variant="default" loading={busy} onClick={() => void run(form.values)}>
          {tested ? t.form.tryAgain : t.form.try}
        </Button>
      </div>
    </Panel>
  );
}

/** The URL with http, if https was only assumed and nothing answered there. */
function plainUrl(typed: string, { body, beat }: Tested): string | null {
  const { url } = body.http ?? {};
  const answered = beat.status === "up" || typeof beat.phases.first_byte === "number";
  if (answered || typeof url !== "string" || hasScheme(typed) || url !== `https://${typed.trim()}`) return null;
  return `http://${typed.trim()}`;
}

function Result({ form, tested, outdated }: { form: Form<Values>; tested: Tested; outdated: boolean }) {
  const t = useTexts();
  const { assertions } = form.values;
  const add = (condition: AssertionValues) => assertions.length < MAX_ASSERTIONS && form.set("assertions", [...assertions, condition]);
  return (
    <div className={styles.result} data-outdated={outdated || undefined} ref={intoView}>
      {outdated && (
        <p className={styles.outdated} role="status">
          {t.form.outdated}
        </p>
      )}
      <p className={styles.tried}>
        {t.form.tried} <span className="code">{triedOf(tested.body)}</span>
      </p>
      <CheckResult beat={tested.beat} />
      {tested.evidence && <TriedAssertions evidence={tested.evidence} tested={tested.assertions} add={add} />}
    </div>
  );
}

/** The address that was tested. */
function triedOf({ http, hostname, port }: SaveMonitor): string {
  return http?.url ?? [hostname, port].filter(Boolean).join(":");
}

/** On phones, the result would be hidden below the navigation bar. */
function intoView(result: HTMLElement | null) {
  result?.scrollIntoView({ block: "nearest" });
}
