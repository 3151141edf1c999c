/** Who can see a page. */
import { Button, Select, Switch, TagsInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { find, valuesOfSet, type StatuspageAccess } from "../../shared/api/closed-sets";
import { rotateToken, type Statuspage } from "../../shared/api/statuspages";
import { useTexts } from "../../shared/i18n";
import { Confirm } from "../../shared/ui/confirm";
import { CopyLine } from "../../shared/ui/copy-line";
import { flag } from "../../shared/ui/form";
import { PasswordField } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import type { PageForm } from "./edit";
import styles from "./statuspages.module.css";

const ways = valuesOfSet<StatuspageAccess>({ public: true, password: true, token: true, members: true });
const MAX_NETWORKS = 100;

export function AccessFields({ form, stored }: { form: PageForm; stored: Statuspage | undefined }) {
  const { access: texts } = useTexts().statuspages;
  const { access, allowed_networks } = form.values;
  return (
    <Panel title={texts.title}>
      <div className={page.fields}>
        <Select
          name="access"
          className={styles.short}
          label={texts.who}
          description={texts.help[access]}
          data={ways.map((value) => ({ value, label: texts.names[value] }))}
          allowDeselect={false}
          value={access}
          error={form.errors.access}
          onChange={(value) => form.set("access", find(ways, value) ?? access)}
        />
        {access === "password" && (
          <PasswordField
            form={form}
            field="password"
            label={stored?.has_password ? texts.newPassword : texts.password}
            description={stored?.has_password ? texts.passwordKept : undefined}
            maxLength={256}
            autoComplete="new-password"
          />
        )}
        {access === "token" && <Token page={stored} />}
        <TagsInput
          name="allowed_networks"
          label={texts.networks}
          description={texts.networksHelp}
          data={[]}
          splitChars={[",", " "]}
          maxTags={MAX_NETWORKS}
          value={allowed_networks}
          error={form.errors.allowed_networks}
          onChange={(value) => form.set("allowed_networks", value)}
        />
        <Switch {...flag(form, "indexed")} label={texts.indexed} description={texts.indexedHelp} />
      </div>
    </Panel>
  );
}

function Token({ page: stored }: { page: Statuspage | undefined }) {
  const { access: texts } = useTexts().statuspages;
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  if (!stored?.access_token || stored.access !== "token") return <p className={styles.quiet}>{texts.tokenLater}</p>;
  return (
    <>
      <CopyLine label={texts.tokenUrl} value={`${stored.url}?token=${stored.access_token}`} wrap />
      <div>
        <Button variant="default" size="xs" onClick={() => setAsking(true)}>
          {texts.rotate}
        </Button>
      </div>
      {asking && (
        <Confirm
          title={texts.rotateTitle}
          action={texts.rotate}
          close={() => setAsking(false)}
          run={async () => {
            await rotateToken(client, stored.pageid);
            showToast(texts.rotated);
          }}
        >
          {texts.rotateHelp}
        </Confirm>
      )}
    </>
  );
}
