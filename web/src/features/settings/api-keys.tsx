/** The user's own API keys: list, create, remove. */
import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiKeysQuery, type ApiKey } from "../../shared/api/api-keys";
import { DELETE, POST, unwrap } from "../../shared/api/client";
import { useMay } from "../../shared/api/session";
import { teamsQuery, useTeam } from "../../shared/api/teams";
import { useTexts } from "../../shared/i18n";
import { ApiKeyRow } from "../../shared/ui/api-key-row";
import { Confirm } from "../../shared/ui/confirm";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Plus } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { NewApiKeyDialog } from "../../shared/ui/new-api-key";
import { Panel } from "../../shared/ui/page";
import styles from "./settings.module.css";

export function ApiKeys() {
  const t = useTexts();
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(apiKeysQuery);
  const team = useTeam();
  const audits = useMay("audit");
  const teams = useQuery(teamsQuery).data ?? [];
  const otherTeam = ({ groupid }: ApiKey) => teams.find((one) => one.groupid === groupid && groupid !== team?.groupid);
  const allowed = team?.personal_keys !== false;
  const [creating, setCreating] = useState(false);
  const [removing, setRemoving] = useState<ApiKey | null>(null);
  const renew = () => client.invalidateQueries({ queryKey: apiKeysQuery.queryKey });
  return (
    <Panel
      id="api-keys"
      title={t.apiKeys.title}
      lead={
        <>
          {t.apiKeys.lead} <a href="/api/docs/">{t.apiKeys.docs}</a>
        </>
      }
      actions={
        allowed && (
          <Button variant="default" leftSection={<Plus />} onClick={() => setCreating(true)} className={styles.headButton}>
            {t.apiKeys.new}
          </Button>
        )
      }
    >
      {!allowed && <p>{t.apiKeys.notAllowed}</p>}
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!error && !data && <Loading />}
      {data?.length === 0 && allowed && <p className={styles.quiet}>{t.apiKeys.none}</p>}
      {data && data.length > 0 && (
        <ul>
          {data.map((key) => (
            <ApiKeyRow
              key={key.apikeyid}
              apikey={key}
              fullScope={t.apiKeys.scopes.full}
              holder={otherTeam(key) && <span className={styles.quiet}>{otherTeam(key)?.name}</span>}
              removeLabel={t.apiKeys.removeLabel(key.name)}
              remove={() => setRemoving(key)}
            />
          ))}
        </ul>
      )}
      {creating && (
        <NewApiKeyDialog
          title={t.apiKeys.new}
          fullScope={t.apiKeys.scopes.full}
          scopeHelp={t.apiKeys.scopeHelp}
          audits={audits}
          create={(body) => unwrap(POST("/api/v1/integrations/apikey/save", { body }))}
          created={renew}
          close={() => setCreating(false)}
        />
      )}
      {removing && (
        <Confirm
          title={t.apiKeys.removeTitle(removing.name)}
          action={t.common.remove}
          close={() => setRemoving(null)}
          run={async () => {
            const path = { apikeyid: removing.apikeyid };
            await unwrap(DELETE("/api/v1/integrations/apikey/{apikeyid}/delete", { params: { path } }));
            await renew();
          }}
        >
          {t.apiKeys.removeHelp}
        </Confirm>
      )}
    </Panel>
  );
}
