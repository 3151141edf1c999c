/** The second factor: off, being set up, or on. */
import { Button, PasswordInput, TextInput } from "@mantine/core";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, take } from "../../shared/api/client";
import { ApiError } from "../../shared/api/error";
import type { components } from "../../shared/api/schema";
import { useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/text";
import { text, useForm } from "../../shared/ui/form";
import { Shield } from "../../shared/ui/icons";
import { CopyLine, Fault, Panel, Trouble, useCopy, Waiting } from "../../shared/ui/parts";
import { say } from "../../shared/ui/toast";
import { useSentence } from "../../shared/ui/trouble";
import styles from "./settings.module.css";

type SetUp = components["schemas"]["MfaSetUp"];

/**
 * Whether MFA is on. The API has no read for it, but turning it on with what
 * can never be a code changes nothing and is refused for a telling reason.
 */
const mfa = queryOptions({
  queryKey: ["mfa"],
  queryFn: async (): Promise<"on" | "off"> => {
    try {
      await take(POST("/api/v1/mfa/enable", { body: { mfacode: "?" } }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "mfa_already_on") return "on";
      if (error.code !== "mfa_not_set_up" && error.code !== "mfa_invalid") throw error;
    }
    return "off";
  },
});

export function Mfa() {
  const t = useTexts();
  const client = useQueryClient();
  const { data: state, error, refetch } = useQuery(mfa);
  const [codes, setCodes] = useState<string[] | null>(null);
  const to = (next: "on" | "off") => client.setQueryData(mfa.queryKey, next);
  return (
    <Panel
      title={t.mfa.title}
      lead={t.mfa.lead}
      actions={
        state && (
          <span className={styles.badge} data-on={state === "on" || undefined}>
            <Shield /> {state === "on" ? t.mfa.on : t.mfa.off}
          </span>
        )
      }
    >
      {error && <Trouble error={error} retry={() => void refetch()} />}
      {!error && !state && <Waiting />}
      {codes ? (
        <Codes codes={codes} close={() => setCodes(null)} />
      ) : (
        <>
          {state === "off" && (
            <SettingUp
              done={(made) => {
                setCodes(made);
                to("on");
              }}
              already={() => to("on")}
            />
          )}
          {state === "on" && <TurningOff done={() => to("off")} />}
        </>
      )}
    </Panel>
  );
}

function SettingUp({ done, already }: { done: (codes: string[]) => void; already: () => void }) {
  const t = useTexts();
  const sentence = useSentence();
  const [made, setMade] = useState<SetUp | null>(null);
  const [busy, setBusy] = useState(false);
  const form = useForm({ mfacode: "" }, async (body) => {
    done((await take(POST("/api/v1/mfa/enable", { body }))).recovery_codes);
  });
  const begin = async () => {
    setBusy(true);
    try {
      setMade(await take(POST("/api/v1/mfa/setup")));
    } catch (error) {
      if (error instanceof ApiError && error.code === "mfa_already_on") already();
      else say(sentence(error), true);
    } finally {
      setBusy(false);
    }
  };
  if (!made) {
    return (
      <Button variant="default" loading={busy} onClick={() => void begin()}>
        {t.mfa.begin}
      </Button>
    );
  }
  return (
    <form className={styles.setup} onSubmit={form.submit}>
      <img
        className={styles.qr}
        src={`data:image/svg+xml,${encodeURIComponent(made.qr)}`}
        alt={t.mfa.qr}
        width={176}
        height={176}
      />
      <div className={styles.form}>
        <p>{t.mfa.scan}</p>
        <CopyLine label={t.mfa.secret} value={made.secret} wrap />
        <TextInput
          {...text(form, "mfacode")}
          label={t.mfa.code}
          description={t.mfa.codeHelp}
          autoComplete="one-time-code"
          inputMode="numeric"
          required
          withAsterisk={false}
        />
        <Fault text={form.fault} />
        <div className={styles.buttons}>
          <Button variant="default" onClick={() => setMade(null)}>
            {t.common.cancel}
          </Button>
          <Button type="submit" loading={form.busy}>
            {t.mfa.enable}
          </Button>
        </div>
      </div>
    </form>
  );
}

function Codes({ codes, close }: { codes: string[]; close: () => void }) {
  const t = useTexts();
  const { email } = useMe();
  const [copied, copy] = useCopy();
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(`Wakeful, ${email}\n\n${codes.join("\n")}\n`)}`;
  return (
    <div className={styles.form}>
      <p>{t.mfa.codes}</p>
      <ol className={styles.codes} aria-label={t.mfa.codesTitle}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div className={styles.buttons}>
        <Button variant="default" onClick={() => copy(codes.join("\n"))}>
          {copied ? t.common.copied : t.mfa.copyCodes}
        </Button>
        <Button variant="default" component="a" href={file} download="wakeful-recovery-codes.txt">
          {t.mfa.download}
        </Button>
        <Button onClick={close}>{t.mfa.kept}</Button>
      </div>
    </div>
  );
}

function TurningOff({ done }: { done: () => void }) {
  const t = useTexts();
  const [open, setOpen] = useState(false);
  const form = useForm({ password: "", mfacode: "" }, async (body) => {
    await take(POST("/api/v1/mfa/disable", { body }));
    say(t.mfa.turnedOff);
    done();
  });
  if (!open) {
    return (
      <Button variant="default" onClick={() => setOpen(true)}>
        {t.mfa.disable}
      </Button>
    );
  }
  return (
    <form className={styles.form} onSubmit={form.submit}>
      <div className={styles.pair}>
        <PasswordInput
          {...text(form, "password")}
          label={t.auth.password}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": t.auth.show }}
          required
          withAsterisk={false}
        />
        <TextInput {...text(form, "mfacode")} label={t.auth.second.code} autoComplete="one-time-code" required withAsterisk={false} />
      </div>
      <Fault text={form.fault} />
      <div className={styles.buttons}>
        <Button variant="default" onClick={() => setOpen(false)}>
          {t.common.cancel}
        </Button>
        <Button type="submit" color="red" loading={form.busy}>
          {t.mfa.disable}
        </Button>
      </div>
    </form>
  );
}
