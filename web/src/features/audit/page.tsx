/** The team's audit log, with filters, the changed fields, an export, a verification and streams. */
import { Button, Menu, NativeSelect, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState } from "react";
import { teamQuery } from "../../shared/api/team";
import { useTexts } from "../../shared/i18n";
import { ActionMenu } from "../../shared/ui/action-menu";
import { AuditEntries } from "../../shared/ui/audit-entry";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Chevron } from "../../shared/ui/icons";
import { LoadMore } from "../../shared/ui/load-more";
import { Loading } from "../../shared/ui/loading";
import { May } from "../../shared/ui/may";
import { Page, Panel } from "../../shared/ui/page";
import { TeamLink } from "../../shared/ui/team-link";
import styles from "./audit.module.css";
import { auditQuery, everything, exportOf, things, type Filter } from "./data";
import { Streams } from "./streams";
import { Verification } from "./verification";

/** How many are shown at first, and after "Show older". */
const LIMITS = [50, 250, 1000] as const;

export function Component() {
  const t = useTexts();
  const { audit } = t;
  const [filter, setFilter] = useState(everything);
  const [limit, setLimit] = useState<number>(LIMITS[0]);
  const { data, error, refetch } = useQuery(auditQuery(useDeferredValue(filter), limit));
  return (
    <Page title={audit.title} lead={audit.lead} narrow actions={<Export />}>
      <Panel flush>
        <Filters filter={filter} change={(change) => setFilter({ ...filter, ...change })} />
        {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
        {!data && !error && <Loading />}
        {data?.length === 0 && <p className={styles.nothing}>{audit.none}</p>}
        {data && data.length > 0 && <AuditEntries entries={data} />}
        {data && <LoadMore shown={data.length} limit={limit} steps={LIMITS} show={setLimit} />}
      </Panel>
      <Verification />
      <May do="own">
        <Streams />
      </May>
    </Page>
  );
}

function Filters({ filter, change }: { filter: Filter; change: (change: Partial<Filter>) => void }) {
  const { audit } = useTexts();
  const { data: members = [] } = useQuery(teamQuery);
  const about = [{ value: "", label: audit.everything }, ...things.map((value) => ({ value, label: audit.things[value] }))];
  const actors = [
    { value: "", label: audit.anybody },
    ...members.map(({ userid, name, email }) => ({ value: userid, label: name || email })),
  ];
  return (
    <div className={styles.filters}>
      <TextInput
        type="search"
        aria-label={audit.search}
        placeholder={audit.search}
        value={filter.q}
        onChange={({ currentTarget }) => change({ q: currentTarget.value })}
      />
      <NativeSelect
        aria-label={audit.about}
        data={about}
        value={filter.thing}
        onChange={({ currentTarget }) => change({ thing: currentTarget.value as Filter["thing"] })}
      />
      <NativeSelect
        aria-label={audit.actor}
        data={actors}
        value={filter.actor}
        onChange={({ currentTarget }) => change({ actor: currentTarget.value })}
      />
      <TextInput
        aria-label={audit.object}
        placeholder={audit.object}
        value={filter.object}
        onChange={({ currentTarget }) => change({ object: currentTarget.value })}
      />
      <TextInput
        type="date"
        label={audit.fromDay}
        value={filter.from}
        onChange={({ currentTarget }) => change({ from: currentTarget.value })}
      />
      <TextInput type="date" label={audit.toDay} value={filter.to} onChange={({ currentTarget }) => change({ to: currentTarget.value })} />
    </div>
  );
}

function Export() {
  const { audit } = useTexts();
  return (
    <ActionMenu
      width={180}
      button={
        <Button variant="default" rightSection={<Chevron />}>
          {audit.export}
        </Button>
      }
    >
      <Menu.Item component={TeamLink} href={exportOf("jsonl")} download>
        JSON Lines
      </Menu.Item>
      <Menu.Item component={TeamLink} href={exportOf("csv")} download>
        CSV
      </Menu.Item>
    </ActionMenu>
  );
}
