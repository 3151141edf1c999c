/** How many subscribers get an update, and how the deliveries of those that were sent went. */
import { Button } from "@mantine/core";
import { useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import type { Incident } from "../../../shared/api/incidents";
import { statuspagesQuery, type ListedStatuspage, type Statuspage } from "../../../shared/api/statuspages";
import { incidentDeliveriesQuery, recipientsQuery, resendUpdate, type UpdateDeliveries } from "../../../shared/api/subscribers";
import { useTexts } from "../../../shared/i18n";
import { Refresh } from "../../../shared/ui/icons";
import { Moment } from "../../../shared/ui/time";
import { showToast } from "../../../shared/ui/toast";
import { useRun } from "../../../shared/ui/use-run";
import { useMayChangePages } from "../labels";
import { recipientsOf } from "../subscribers/values";
import styles from "./incidents.module.css";

/** The pages that would show an incident. */
export function pagesOf(
  pages: readonly Statuspage[],
  pageids: readonly string[],
  components: readonly { componentid: string }[],
): string[] {
  const ids = components.map(({ componentid }) => componentid);
  const has = ({ sections }: Statuspage) => sections.some((section) => section.components.some((one) => ids.includes(one.componentid)));
  return pages.filter((page) => pageids.includes(page.pageid) || has(page)).map(({ pageid }) => pageid);
}

/** Of these pages, those with subscribers: nothing is asked about the others. */
function useSubscribed(pageids: readonly string[]): ListedStatuspage[] {
  const { data = [] } = useQuery(statuspagesQuery);
  return data.filter(({ pageid, subscribers, published }) => pageids.includes(pageid) && subscribers > 0 && published);
}

/** The number of recipients, by kind for those who may see subscribers; nothing if there are none. */
export function Recipients({ pageids }: { pageids: readonly string[] }) {
  const { incidents: texts } = useTexts();
  const edits = useMayChangePages("edit");
  const subscribed = useSubscribed(pageids);
  const found = useQueries({
    queries: edits ? subscribed.map(({ pageid }) => recipientsQuery(pageid)) : [],
    combine: (results) => results.flatMap(({ data }) => (data ? [recipientsOf(data.counts)] : [])),
  });
  if (subscribed.length === 0) return null;
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  return (
    <p className={styles.quiet} role="status">
      {found.length < subscribed.length
        ? texts.allRecipients(sum(subscribed.map(({ subscribers }) => subscribers)))
        : texts.recipients(sum(found.map(({ email }) => email)), sum(found.map(({ webhook }) => webhook)))}
    </p>
  );
}

/** The deliveries of each update by its id; none if no page has subscribers. */
export function useDeliveries({ incidentid, state, shown_on }: Incident): ReadonlyMap<string, UpdateDeliveries> {
  const subscribed = useSubscribed(shown_on);
  const enabled = state === "published" && subscribed.length > 0;
  const { data = [] } = useQuery({ ...incidentDeliveriesQuery(incidentid), enabled });
  return new Map(data.map((one) => [one.updateid, one]));
}

export function Deliveries({ incidentid, of, changeable }: { incidentid: string; of: UpdateDeliveries | undefined; changeable: boolean }) {
  const { incidents: texts, statuspages } = useTexts();
  const client = useQueryClient();
  const [busy, run] = useRun();
  if (!of || of.waiting + of.delivered + of.failed === 0) return null;
  const { updateid, waiting, delivered, failed, failures } = of;
  return (
    <div className={styles.deliveries}>
      <p className={styles.quiet}>{texts.deliveries(delivered, waiting, failed)}</p>
      {failed > 0 && (
        <details>
          <summary>{texts.failures(failed)}</summary>
          <ul>
            {failures.map(({ subscriberid, kind, last_answer, at }) => (
              <li key={subscriberid} className={styles.quiet}>
                {statuspages.subscribers.kinds[kind]} · <Moment at={at} />
                {last_answer && ` · ${last_answer}`}
              </li>
            ))}
          </ul>
        </details>
      )}
      {failed > 0 && changeable && (
        <Button
          variant="default"
          size="compact-xs"
          leftSection={<Refresh />}
          loading={busy}
          onClick={() =>
            run(async () => {
              await resendUpdate(client, incidentid, updateid);
              showToast(texts.resent);
            })
          }
        >
          {texts.resend}
        </Button>
      )}
    </div>
  );
}
