/** Two-factor authentication: off, being set up, or on. */
import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { POST, unwrap } from "../../shared/api/client";
import { ApiError } from "../../shared/api/error";
import type { components } from "../../shared/api/schema";
import { meQuery, useMe } from "../../shared/api/session";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { CopyLine, useCopy } from "../../shared/ui/copy-line";
import { useForm } from "../../shared/ui/form";
import { Shield } from "../../shared/ui/icons";
import { ButtonRow, RequiredField, FieldPair, PasswordField, FormLayout, Rows } from "../../shared/ui/form-layout";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import { useErrorMessage } from "../../shared/ui/error-message";
import styles from "./settings.module.css";

type MfaSetup = components["schemas"]["MfaSetUp"];

export function Mfa() {
  const t = useTexts();
  const client = useQueryClient();
  const { mfa, mfa_setup_required } = useMe();
  const [codes, setCodes] = useState<string[] | null>(null);
  // What the user may do in a team that requires it changes, too.
  const turn = (on: boolean) => {
    client.setQueryData(meQuery.queryKey, (old) => old && { ...old, mfa: on });
    void client.invalidateQueries({ queryKey: meQuery.queryKey });
  };
  return (
    <Panel
      id="mfa"
      title={t.mfa.title}
      lead={t.mfa.lead}
      actions={
        <Badge tone={mfa ? "up" : "rest"}>
          <Shield /> {mfa ? t.mfa.on : t.mfa.off}
        </Badge>
      }
    >
      {mfa_setup_required && !mfa && (
        <p role="status" className={styles.required}>
          {t.mfa.requiredHelp}
        </p>
      )}
      {codes ? (
        <Codes codes={codes} close={() => setCodes(null)} />
      ) : mfa ? (
        <Rows>
          <Renew done={setCodes} />
          <Disable done={() => turn(false)} />
        </Rows>
      ) : (
        <Setup
          done={(made) => {
            setCodes(made);
            turn(true);
          }}
          already={() => turn(true)}
        />
      )}
    </Panel>
  );
}

function Setup({ done, already }: { done: (codes: string[]) => void; already: () => void }) {
  const t = useTexts();
  const errorMessage = useErrorMessage();
  const [made, setMade] = useState<MfaSetup | null>(null);
  const [back, setBack] = useState(false);
  const [busy, setBusy] = useState(false);
  const form = useForm({ mfacode: "" }, async (body) => {
    done((await unwrap(POST("/api/v1/mfa/enable", { body }))).recovery_codes);
  });
  const begin = async () => {
    setBusy(true);
    try {
      setMade(await unwrap(POST("/api/v1/mfa/setup")));
    } catch (error) {
      if (error instanceof ApiError && error.has("mfa_already_on")) already();
      else showToast(errorMessage(error), true);
    } finally {
      setBusy(false);
    }
  };
  const cancel = () => {
    setBack(true);
    setMade(null);
  };
  if (!made) {
    return (
      <Button variant="default" loading={busy} onClick={() => void begin()} autoFocus={back}>
        {t.mfa.begin}
      </Button>
    );
  }
  return (
    <div className={styles.setup}>
      <img className={styles.qr} src={`data:image/svg+xml,${encodeURIComponent(made.qr)}`} alt={t.mfa.qr} width={176} height={176} />
      <div className={styles.form}>
        <p>{t.mfa.scan}</p>
        <CopyLine label={t.mfa.secret} value={made.secret} wrap />
        <FormLayout form={form} action={t.mfa.enable} cancel={cancel}>
          <RequiredField
            form={form}
            field="mfacode"
            label={t.mfa.code}
            description={t.mfa.codeHelp}
            autoComplete="one-time-code"
            inputMode="numeric"
            autoFocus
          />
        </FormLayout>
      </div>
    </div>
  );
}

function Codes({ codes, close }: { codes: string[]; close: () => void }) {
  const t = useTexts();
  const { email } = useMe();
  const { shown, copied, copy } = useCopy<HTMLOListElement>(codes.join("\n"));
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(`Wakeful, ${email}\n\n${codes.join("\n")}\n`)}`;
  return (
    <div className={styles.form}>
      <p>{t.mfa.codes}</p>
      <ol ref={shown} className={styles.codes} aria-label={t.mfa.codesTitle}>
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <ButtonRow>
        <Button variant="default" onClick={copy}>
          {copied ? t.common.copied : t.mfa.copyCodes}
        </Button>
        <Button variant="default" component="a" href={file} download="wakeful-recovery-codes.txt">
          {t.mfa.download}
        </Button>
        <Button onClick={close}>{t.mfa.saved}</Button>
      </ButtonRow>
    </div>
  );
}

/** Replaces the recovery codes. */
function Renew({ done }: { done: (codes: string[]) => void }) {
  const t = useTexts();
  const [confirming, setConfirming] = useState(false);
  return (
    <div>
      <Button variant="default" onClick={() => setConfirming(true)}>
        {t.mfa.renew}
      </Button>
      {confirming && (
        <Confirm
          title={t.mfa.renewTitle}
          action={t.mfa.renew}
          close={() => setConfirming(false)}
          run={async () => done((await unwrap(POST("/api/v1/recovery/renew"))).recovery_codes)}
        >
          {t.mfa.renewHelp}
        </Confirm>
      )}
    </div>
  );
}

function Disable({ done }: { done: () => void }) {
  const t = useTexts();
  /** Null until it has been opened once. */
  const [open, setOpen] = useState<boolean | null>(null);
  const form = useForm({ password: "", mfacode: "" }, async (body) => {
    await unwrap(POST("/api/v1/mfa/disable", { body }));
    showToast(t.mfa.turnedOff);
    done();
  });
  if (!open) {
    return (
      <div>
        <Button variant="default" onClick={() => setOpen(true)} autoFocus={open === false}>
          {t.mfa.disable}
        </Button>
      </div>
    );
  }
  return (
    <FormLayout form={form} action={t.mfa.disable} color="red" cancel={() => setOpen(false)}>
      <FieldPair>
        <PasswordField form={form} field="password" label={t.auth.password} autoComplete="current-password" required autoFocus />
        <RequiredField form={form} field="mfacode" label={t.auth.secondFactor.code} autoComplete="one-time-code" />
      </FieldPair>
    </FormLayout>
  );
}
