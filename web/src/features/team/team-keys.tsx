/** The API keys of everyone in the team, and of its service accounts: list and remove them. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiKeysQuery, teamKeysQuery, type TeamKey } from "../../shared/api/api-keys";
import { DELETE, unwrap } from "../../shared/api/client";
import { useMe } from "../../shared/api/session";
import { teamQuery } from "../../shared/api/team";
import { useTexts } from "../../shared/i18n";
import { ApiKeyRow } from "../../shared/ui/api-key-row";
import { Confirm } from "../../shared/ui/confirm";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import { servicesQuery } from "./data";
import { mayAssign } from "./may-assign";
import styles from "./team.module.css";

export function TeamKeys() {
  const t = useTexts();
  const { teamKeys } = t;
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery(teamKeysQuery);
  const mayRemove = useMayRemove();
  const [removing, setRemoving] = useState<TeamKey | null>(null);
  const nameOf = ({ kind, name, email }: TeamKey["holder"]) => (kind === "service" ? teamKeys.service(name) : email);
  return (
    <Panel id="team-keys" title={t.apiKeys.title} lead={teamKeys.lead}>
      {isPending && <Loading />}
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data?.length === 0 && <p className={styles.quiet}>{t.apiKeys.none}</p>}
      {data && data.length > 0 && (
        <ul>
          {data.map((key) => (
            <ApiKeyRow
              key={key.apikeyid}
              apikey={key}
              fullScope={teamKeys.fullScope}
              holder={<span className={styles.holder}>{nameOf(key.holder)}</span>}
              removeLabel={teamKeys.removeLabel(key.name, nameOf(key.holder))}
              remove={mayRemove(key) ? () => setRemoving(key) : undefined}
            />
          ))}
        </ul>
      )}
      {removing && (
        <Confirm
          title={teamKeys.removeTitle(removing.name, nameOf(removing.holder))}
          action={t.common.remove}
          close={() => setRemoving(null)}
          run={async () => {
            const path = { apikeyid: removing.apikeyid };
            await unwrap(DELETE("/api/v1/team/key/{apikeyid}/delete", { params: { path } }));
            const changed = [apiKeysQuery.queryKey, servicesQuery.queryKey];
            await Promise.all(changed.map((queryKey) => client.invalidateQueries({ queryKey })));
          }}
        >
          {t.apiKeys.removeHelp}
        </Confirm>
      )}
    </Panel>
  );
}

/** Keys of someone with a role above one's own cannot be removed. */
function useMayRemove(): ({ holder }: TeamKey) => boolean {
  const { role: own } = useMe();
  const { data: members = [] } = useQuery(teamQuery);
  return ({ holder }) => {
    // The roles of service accounts are never above that of a person who manages them.
    if (holder.kind === "service") return true;
    const role = members.find(({ userid }) => userid === holder.userid)?.role;
    return role !== undefined && mayAssign(own, role);
  };
}
