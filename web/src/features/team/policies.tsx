/** The team's policies: what it demands of its members and of API keys. */
import { Button, NumberInput, Switch } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { POST, unwrap } from "../../shared/api/client";
import { meQuery, useMe } from "../../shared/api/session";
import { teamsQuery, useTeam, type Team } from "../../shared/api/teams";
import { useTexts } from "../../shared/i18n";
import { ErrorNotice, FormError } from "../../shared/ui/error-notice";
import { flag, useForm } from "../../shared/ui/form";
import { ButtonRow } from "../../shared/ui/form-layout";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import styles from "./team.module.css";

/** As the service allows. */
const MAX_KEY_DAYS = 3650;

export function Policies() {
  const { policies } = useTexts();
  const { error, refetch } = useQuery(teamsQuery);
  const team = useTeam();
  return (
    <Panel id="policies" title={policies.title} lead={policies.lead}>
      {team ? (
        // A form of what is stored now.
        <PoliciesForm key={`${team.mfa} ${team.key_days} ${team.personal_keys}`} team={team} />
      ) : error ? (
        <ErrorNotice error={error} retry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </Panel>
  );
}

function PoliciesForm({ team }: { team: Team }) {
  const t = useTexts();
  const { policies } = t;
  const client = useQueryClient();
  const me = useMe();
  const form = useForm(
    { required: team.mfa === "required", key_days: team.key_days, service_keys: !team.personal_keys },
    async ({ required, key_days, service_keys }) => {
      const body = { mfa: required ? "required" : "optional", key_days, personal_keys: !service_keys } as const;
      await unwrap(POST("/api/v1/team/settings", { body }));
      showToast(policies.saved);
      // The user may now have to set up a second factor.
      const changed = [teamsQuery.queryKey, meQuery.queryKey];
      await Promise.all(changed.map((queryKey) => client.invalidateQueries({ queryKey })));
    },
  );
  const { required, key_days } = form.values;
  return (
    <form className={styles.policies} onSubmit={form.submit} noValidate>
      <Switch {...flag(form, "required")} label={policies.mfa} description={policies.mfaHelp} />
      {required && !me.mfa && <p role="status">{policies.mfaOwn}</p>}
      <NumberInput
        name="key_days"
        label={policies.keyDays}
        description={policies.keyDaysHelp}
        error={form.errors["key_days"]}
        min={0}
        max={MAX_KEY_DAYS}
        allowDecimal={false}
        allowNegative={false}
        value={key_days === 0 ? "" : key_days}
        onChange={(days) => form.set("key_days", Number(days))}
      />
      <Switch {...flag(form, "service_keys")} label={policies.serviceKeys} description={policies.serviceKeysHelp} />
      <FormError text={form.fault} />
      <ButtonRow>
        <Button type="submit" loading={form.busy} disabled={!form.dirty}>
          {t.common.save}
        </Button>
      </ButtonRow>
    </form>
  );
}
