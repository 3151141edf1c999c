/** The team's service accounts: list, create, edit, suspend and delete them, and create their API keys. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { apiKeysQuery, type NewApiKey } from "../../shared/api/api-keys";
import { DELETE, POST, unwrap } from "../../shared/api/client";
import { useTexts } from "../../shared/i18n";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { useErrorMessage } from "../../shared/ui/error-message";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Key, Pause, Pencil, Play, Plus, Terminal, Trash } from "../../shared/ui/icons";
import { ListRow } from "../../shared/ui/list-row";
import { Loading } from "../../shared/ui/loading";
import { NewApiKeyDialog } from "../../shared/ui/new-api-key";
import { Panel } from "../../shared/ui/page";
import { Ago } from "../../shared/ui/time";
import { showToast } from "../../shared/ui/toast";
import { servicesQuery, type ServiceAccount } from "./data";
import { ServiceAccountDialog } from "./service-account-dialog";
import styles from "./team.module.css";

/** The roles of service accounts that may read the audit log. */
const AUDITORS: readonly ServiceAccount["role"][] = ["admin"];

type Open = { what: "create" } | { what: "change" | "key" | "suspend" | "delete"; service: ServiceAccount } | null;

export function ServiceAccounts() {
  const t = useTexts();
  const { serviceAccounts } = t;
  const client = useQueryClient();
  const { data, error, isPending, refetch } = useQuery(servicesQuery);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const errorMessage = useErrorMessage();
  // The list of keys has the names of their holders.
  const renew = async () => {
    const changed = [servicesQuery.queryKey, apiKeysQuery.queryKey];
    await Promise.all(changed.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
  const suspend = async ({ serviceid }: ServiceAccount, suspended: boolean) => {
    await unwrap(POST("/api/v1/service/save", { body: { serviceid, suspended } }));
    await renew();
  };
  const menu = (service: ServiceAccount) => (
    <>
      <Menu.Item leftSection={<Key />} onClick={() => setOpen({ what: "key", service })}>
        {t.apiKeys.new}
      </Menu.Item>
      <Menu.Item leftSection={<Pencil />} onClick={() => setOpen({ what: "change", service })}>
        {t.team.change}
      </Menu.Item>
      {service.suspended ? (
        <Menu.Item
          leftSection={<Play />}
          onClick={() => void suspend(service, false).catch((error: unknown) => showToast(errorMessage(error), true))}
        >
          {t.team.unsuspend}
        </Menu.Item>
      ) : (
        <Menu.Item leftSection={<Pause />} onClick={() => setOpen({ what: "suspend", service })}>
          {t.team.suspend}
        </Menu.Item>
      )}
      <Menu.Item leftSection={<Trash />} color="red" onClick={() => setOpen({ what: "delete", service })}>
        {serviceAccounts.delete}
      </Menu.Item>
    </>
  );
  return (
    <Panel
      id="service-accounts"
      title={serviceAccounts.title}
      lead={serviceAccounts.lead}
      actions={
        <Button variant="default" leftSection={<Plus />} onClick={() => setOpen({ what: "create" })}>
          {serviceAccounts.new}
        </Button>
      }
    >
      {isPending && <Loading />}
      {error && <ErrorNotice error={error} retry={() => void refetch()} />}
      {data?.length === 0 && <p className={styles.quiet}>{serviceAccounts.none}</p>}
      {data && data.length > 0 && (
        <ul>
          {data.map((service) => (
            <ListRow
              key={service.serviceid}
              name={service.name}
              face={<Terminal />}
              badges={service.suspended && <Badge tone="wait">{t.team.suspended}</Badge>}
              menu={menu(service)}
            >
              {t.team.roles[service.role]} · {serviceAccounts.keys(service.keys)} ·{" "}
              {service.last_used ? (
                <>
                  {t.apiKeys.lastUsed} <Ago at={service.last_used} />
                </>
              ) : (
                t.apiKeys.neverUsed
              )}
            </ListRow>
          ))}
        </ul>
      )}
      {open?.what === "create" && <ServiceAccountDialog close={close} saved={renew} />}
      {open?.what === "change" && <ServiceAccountDialog service={open.service} close={close} saved={renew} />}
      {open?.what === "key" && (
        <NewApiKeyDialog
          title={serviceAccounts.newKey(open.service.name)}
          fullScope={serviceAccounts.fullScope}
          scopeHelp={serviceAccounts.scopeHelp}
          audits={AUDITORS.includes(open.service.role)}
          create={(body) => createKey(open.service, body)}
          created={renew}
          close={close}
        />
      )}
      {open?.what === "suspend" && (
        <Confirm
          title={t.team.suspendTitle(open.service.name)}
          action={t.team.suspend}
          close={close}
          run={() => suspend(open.service, true)}
        >
          {serviceAccounts.suspendHelp}
        </Confirm>
      )}
      {open?.what === "delete" && (
        <Confirm
          title={serviceAccounts.deleteTitle(open.service.name)}
          action={serviceAccounts.delete}
          typed={open.service.name}
          close={close}
          run={async () => {
            const path = { serviceid: open.service.serviceid };
            await unwrap(DELETE("/api/v1/service/{serviceid}/delete", { params: { path } }));
            await renew();
          }}
        >
          {serviceAccounts.deleteHelp}
        </Confirm>
      )}
    </Panel>
  );
}

function createKey({ serviceid }: ServiceAccount, body: NewApiKey) {
  return unwrap(POST("/api/v1/service/{serviceid}/key/save", { params: { path: { serviceid } }, body }));
}
