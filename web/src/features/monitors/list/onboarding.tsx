/** Shown to a team without monitors: enter a URL, check it once, start monitoring. */
import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTexts } from "../../../shared/i18n";
import { Link, useNavigate } from "../../../shared/router";
import { FormError } from "../../../shared/ui/error-notice";
import { useForm, text } from "../../../shared/ui/form";
import { save, tryOut, types, type Heartbeat } from "../data";
import { bodyOf, initial } from "../edit/values";
import { hostOf, withScheme } from "../types/url";
import { CheckResult } from "../check-result";
import styles from "./onboarding.module.css";

export default function Onboarding() {
  const t = useTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [result, setResult] = useState<Heartbeat | null>(null);
  const [saving, setSaving] = useState(false);
  const body = (url: string) => bodyOf({ ...initial("http"), name: hostOf(withScheme(url)), "http.url": withScheme(url) });
  const form = useForm({ "http.url": "" }, async (values) => {
    setResult(null);
    setResult((await tryOut(body(values["http.url"]))).beat);
  });
  const watch = async () => {
    setSaving(true);
    try {
      const saved = await save(client, body(form.values["http.url"]));
      await navigate(`/monitor/${saved.monitorid}/notify`);
    } finally {
      setSaving(false);
    }
  };
  return (
    <div className={styles.first}>
      <div className={styles.words}>
        <h1>{t.onboarding.title}</h1>
        <p>{t.onboarding.lead}</p>
      </div>
      <form className={styles.form} onSubmit={form.submit}>
        <TextInput
          {...text(form, "http.url")}
          className={styles.field}
          size="md"
          label={t.onboarding.url}
          placeholder="https://example.com"
          inputMode="url"
          autoCapitalize="off"
          spellCheck={false}
          autoFocus
          required
          withAsterisk={false}
        />
        <Button type="submit" size="md" variant={result ? "default" : "filled"} loading={form.busy} className={styles.go}>
          {result ? t.onboarding.again : t.onboarding.try}
        </Button>
      </form>
      <FormError text={form.fault} />
      {result && (
        <div className={styles.result}>
          <CheckResult beat={result} />
          <div className={styles.next}>
            <Button size="md" loading={saving} onClick={() => void watch()} autoFocus>
              {t.onboarding.watch}
            </Button>
            <span>{t.onboarding.watchHelp}</span>
          </div>
        </div>
      )}
      <div className={styles.others}>
        <span>{t.onboarding.others}</span>
        <ul>
          {types.map((type) => (
            <li key={type}>
              <Link to={`/monitor/new?type=${type}`}>{t.monitors.types[type]}</Link>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
