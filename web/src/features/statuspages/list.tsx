/** The status pages of the team. */
import { Button, Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { incidentsQuery } from "../../shared/api/incidents";
import {
  deleteStatuspage,
  saveStatuspage,
  statuspagesQuery,
  statuspageWarnings,
  type ListedStatuspage,
} from "../../shared/api/statuspages";
import { useTexts } from "../../shared/i18n";
import { Link } from "../../shared/router";
import { ActionMenu } from "../../shared/ui/action-menu";
import { Badge } from "../../shared/ui/badge";
import { Confirm } from "../../shared/ui/confirm";
import { EmptyState } from "../../shared/ui/empty-state";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Globe, More, Pause, Pencil, Plus, Trash } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { Page, Panel } from "../../shared/ui/page";
import { showToast } from "../../shared/ui/toast";
import { useRun } from "../../shared/ui/use-run";
import { IndicatorBadge, useMayChangePages } from "./labels";
import styles from "./statuspages.module.css";
import { StatuspageTabs } from "./tabs";
import { hostNames } from "./values";

export function StatuspageList() {
  const { statuspages: texts } = useTexts();
  const { data, error, isPending, refetch } = useQuery(statuspagesQuery);
  const { data: drafts = [] } = useQuery(incidentsQuery("draft"));
  const edits = useMayChangePages("edit");
  const make = edits && (
    <Button component={Link} to="/statuspage/new" leftSection={<Plus />}>
      {texts.new}
    </Button>
  );
  const isEmpty = data?.length === 0;
  return (
    <Page title={texts.title} lead={texts.lead} actions={data && !isEmpty ? make : undefined}>
      <StatuspageTabs current="/statuspages" />
      {isPending && <Loading />}
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {isEmpty && (
        <Panel>
          <EmptyState title={texts.none}>
            {edits && <p className={styles.emptyWords}>{texts.noneHelp}</p>}
            {make}
          </EmptyState>
        </Panel>
      )}
      {data && !isEmpty && (
        <ul className={styles.list}>
          {data.map((page) => (
            <Row
              key={page.pageid}
              page={page}
              drafts={drafts.filter(({ shown_on }) => shown_on.includes(page.pageid)).length}
              changeable={edits}
            />
          ))}
        </ul>
      )}
    </Page>
  );
}

function Row({ page, drafts, changeable }: { page: ListedStatuspage; drafts: number; changeable: boolean }) {
  const { statuspages: texts } = useTexts();
  const { pageid, name, url, published, components, open_incidents, subscribers, indicator, access } = page;
  return (
    <li className={styles.row}>
      <div className={styles.names}>
        <span className={styles.title}>
          <Link to={`/statuspage/${pageid}`}>{name}</Link>
          {published ? <IndicatorBadge indicator={indicator} /> : <Badge tone="rest">{texts.unpublished}</Badge>}
          {access !== "public" && <Badge tone="rest">{texts.access.names[access]}</Badge>}
        </span>
        {published ? (
          <a className={styles.url} href={url} target="_blank" rel="noopener">
            {url}
          </a>
        ) : (
          <span className={styles.quiet}>{url}</span>
        )}
      </div>
      <div className={styles.what}>
        <span>{texts.components(components)}</span>
        {open_incidents > 0 && <span>{texts.openIncidents(open_incidents)}</span>}
        {subscribers > 0 && <span className={styles.quiet}>{texts.subscriberCount(subscribers)}</span>}
        {drafts > 0 && (
          <Link to="/incidents" className={styles.drafts}>
            {texts.drafts(drafts)}
          </Link>
        )}
      </div>
      {changeable && <RowMenu page={page} />}
    </li>
  );
}

function RowMenu({ page: { pageid, name, published } }: { page: ListedStatuspage }) {
  const t = useTexts();
  const { statuspages: texts } = t;
  const client = useQueryClient();
  const [, run] = useRun();
  const [deleting, setDeleting] = useState(false);
  // How many addresses visitors would see; asked before they do.
  const [hosts, setHosts] = useState(0);
  const publish = async () => {
    await saveStatuspage(client, { pageid, published: !published });
    showToast(published ? texts.hasUnpublished(name) : texts.hasPublished(name));
  };
  const confirmOrPublish = async () => {
    const found = published ? 0 : hostNames(await statuspageWarnings(pageid));
    if (found === 0) await publish();
    else setHosts(found);
  };
  return (
    <>
      <ActionMenu
        width={200}
        button={
          <button type="button" className={styles.more} aria-label={t.monitors.actions(name)}>
            <More />
          </button>
        }
      >
        <Menu.Item leftSection={<Pencil />} component={Link} to={`/statuspage/${pageid}`}>
          {texts.edit}
        </Menu.Item>
        <Menu.Item leftSection={published ? <Pause /> : <Globe />} onClick={() => run(confirmOrPublish)}>
          {published ? texts.unpublish : texts.publish}
        </Menu.Item>
        <Menu.Item leftSection={<Trash />} color="red" onClick={() => setDeleting(true)}>
          {t.monitors.delete}
        </Menu.Item>
      </ActionMenu>
      {hosts > 0 && (
        <Confirm title={texts.publishTitle(name)} action={texts.publish} color="blue" close={() => setHosts(0)} run={publish}>
          {texts.hostNames(hosts)}
        </Confirm>
      )}
      {deleting && (
        <Confirm
          title={t.detail.deleteTitle(name)}
          action={t.monitors.delete}
          typed={published ? name : undefined}
          close={() => setDeleting(false)}
          run={async () => {
            await deleteStatuspage(client, pageid);
            showToast(t.detail.deleted(name));
          }}
        >
          {texts.deleteHelp}
        </Confirm>
      )}
    </>
  );
}
