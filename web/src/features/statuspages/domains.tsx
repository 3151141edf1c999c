/** The domains of a page: adding one, the main one, the record and the proxy configuration to copy, and the check. */
import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Statuspage } from "../../shared/api/statuspages";
import { checkDomain, type DomainCheck } from "../../shared/api/subscribers";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { CopyLine } from "../../shared/ui/copy-line";
import { FormError } from "../../shared/ui/error-notice";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { SegmentedControl } from "../../shared/ui/segmented-control";
import { useRun } from "../../shared/ui/use-run";
import type { PageForm } from "./edit";
import { domainOf, proxies, proxyConfig, type Proxy } from "./domain-values";
import styles from "./statuspages.module.css";
import { MAX_DOMAINS, type DomainValues } from "./values";

export function Domains({ form, stored, edits }: { form: PageForm; stored: Statuspage | undefined; edits: boolean }) {
  const { domains: texts } = useTexts().statuspages;
  const { domains } = form.values;
  const [text, setText] = useState("");
  const [wrong, setWrong] = useState<string | undefined>();
  const set = (next: DomainValues[]) => form.set("domains", next);
  const add = () => {
    const domain = domainOf(text);
    if (domain === null) setWrong(texts.invalid);
    else if (domains.some((one) => one.domain === domain)) setWrong(texts.twice);
    else {
      set([...domains, { domain, primary: domains.length === 0 }]);
      setText("");
    }
  };
  return (
    <Panel title={texts.title} lead={texts.lead}>
      <div className={page.fields}>
        {domains.length > 0 && (
          <ul className={styles.domains}>
            {domains.map((one, place) => (
              <DomainRow
                key={one.domain}
                domain={one}
                stored={stored}
                edits={edits}
                error={form.errors[`domains.${place}.domain`] ?? null}
                makePrimary={() => set(domains.map((other) => ({ ...other, primary: other.domain === one.domain })))}
                remove={() => set(domains.filter(({ domain }) => domain !== one.domain))}
              />
            ))}
          </ul>
        )}
        <FormError text={form.errors.domains ?? null} />
        {edits && domains.length < MAX_DOMAINS && (
          <div className={styles.adding}>
            <TextInput
              label={texts.add}
              description={texts.addHelp}
              placeholder="status.example.com"
              maxLength={253}
              autoComplete="off"
              spellCheck={false}
              value={text}
              error={wrong}
              onChange={({ currentTarget }) => {
                setText(currentTarget.value);
                setWrong(undefined);
              }}
              onKeyDown={(event) => {
                if (event.key !== "Enter") return;
                // The form is not saved yet.
                event.preventDefault();
                add();
              }}
            />
            <Button variant="default" onClick={add}>
              {texts.addAction}
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}

interface RowProps {
  domain: DomainValues;
  stored: Statuspage | undefined;
  edits: boolean;
  error: string | null;
  makePrimary: () => void;
  remove: () => void;
}

function DomainRow({ domain: { domain, primary }, stored, edits, error, makePrimary, remove }: RowProps) {
  const t = useTexts();
  const { domains: texts } = t.statuspages;
  const client = useQueryClient();
  const [busy, run] = useRun();
  const [checked, setChecked] = useState<DomainCheck | null>(null);
  const known = stored?.domains.find((one) => one.domain === domain);
  const isVerified = checked?.verified ?? known?.verified ?? false;
  return (
    <li className={styles.domain}>
      <span className={styles.title}>
        <b>{domain}</b>
        {primary && <Badge tone="accent">{texts.primary}</Badge>}
        {known ? (
          <Badge tone={isVerified ? "up" : "wait"}>{isVerified ? texts.verified : texts.unverified}</Badge>
        ) : (
          <Badge tone="rest">{texts.unsaved}</Badge>
        )}
      </span>
      <FormError text={error} />
      {edits && (
        <div className={styles.wrapped}>
          {stored && known && (
            <Button
              variant="default"
              size="xs"
              loading={busy}
              aria-label={texts.checkOf(domain)}
              onClick={() => run(async () => setChecked(await checkDomain(client, stored.pageid, domain)))}
            >
              {texts.check}
            </Button>
          )}
          {!primary && (
            <Button variant="default" size="xs" aria-label={texts.makePrimaryOf(domain)} onClick={makePrimary}>
              {texts.makePrimary}
            </Button>
          )}
          <Button variant="subtle" color="red" size="xs" aria-label={t.statuspages.removeComponent(domain)} onClick={remove}>
            {t.common.remove}
          </Button>
        </div>
      )}
      {checked && (
        <div role="status" className={page.fields}>
          <p className={checked.verified ? styles.quiet : styles.warning}>{checked.verified ? texts.isVerified : texts.isUnverified}</p>
          {!checked.verified && (
            <CopyLine label={texts.expected} value={`${checked.expected.name} ${checked.expected.type} ${checked.expected.value}`} wrap />
          )}
        </div>
      )}
      <Setup domain={domain} />
    </li>
  );
}

/** How a domain gets to the service. */
function Setup({ domain }: { domain: string }) {
  const { domains: texts } = useTexts().statuspages;
  const [proxy, setProxy] = useState<Proxy>("caddy");
  return (
    <details className={styles.setup}>
      <summary>{texts.setup}</summary>
      <div className={page.fields}>
        <p className={styles.quiet}>{texts.setupHelp}</p>
        <CopyLine label={texts.record} value={`${domain}. CNAME ${location.hostname}.`} wrap />
        <SegmentedControl label={texts.proxy} choices={proxies} chosen={proxy} choose={setProxy} />
        <CopyLine
          label={texts.proxyOf(proxies.find(([value]) => value === proxy)?.[1] ?? "")}
          value={proxyConfig(proxy, domain, location.origin)}
          wrap
        />
      </div>
    </details>
  );
}
