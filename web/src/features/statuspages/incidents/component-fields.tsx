/** The components that an incident names, with the statuses that it gives them. */
import { MultiSelect, Select } from "@mantine/core";
import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { find, type IncidentKind } from "../../../shared/api/closed-sets";
import { statuspageQuery, statuspagesQuery, type Statuspage, type StatuspageComponent } from "../../../shared/api/statuspages";
import { useTexts } from "../../../shared/i18n";
import { componentStatuses } from "../statuses";
import styles from "./incidents.module.css";
import { defaultStatus, type NamedStatus } from "./values";

/** How many pages are read for their components. */
const MAX_PAGES = 50;

/** The team's pages with their components; undefined while they are loaded. */
export function usePages(): Statuspage[] | undefined {
  const { data: listed } = useQuery(statuspagesQuery);
  const pages = useQueries({
    queries: (listed ?? []).slice(0, MAX_PAGES).map(({ pageid }) => ({ ...statuspageQuery(pageid), staleTime: 60_000 })),
    combine: (results) => ({
      // A page that was deleted meanwhile is left out.
      found: results.flatMap(({ data }) => data ?? []),
      isPending: results.some(({ isPending }) => isPending),
    }),
  });
  return listed && !pages.isPending ? pages.found : undefined;
}

/** The components with a monitor. */
export function componentsWith(pages: readonly Statuspage[], monitorid: string): string[] {
  return componentsOf(pages)
    .filter(({ monitors }) => monitors.some((monitor) => monitor.monitorid === monitorid))
    .map(({ componentid }) => componentid);
}

function componentsOf(pages: readonly Statuspage[]) {
  return pages.flatMap(({ sections }) => sections.flatMap(({ components }) => components));
}

/** What visitors see: its name, or that of its first monitor. */
function nameOf({ name, monitors }: StatuspageComponent): string {
  return name || (monitors[0]?.name ?? "–");
}

/** The names of all components by their ids. */
export function componentNames(pages: readonly Statuspage[]): Map<string, string> {
  return new Map(componentsOf(pages).map((one) => [one.componentid, nameOf(one)] as const));
}

interface Props {
  kind: IncidentKind;
  pages: readonly Statuspage[];
  /** Those that the incident already names, which may have been deleted. */
  known?: readonly { componentid: string; name: string }[];
  value: readonly NamedStatus[];
  error: string | undefined;
  change: (value: NamedStatus[]) => void;
}

export function ComponentFields({ kind, pages, known = [], value, error, change }: Props) {
  const { incidents: texts, statuspages } = useTexts();
  const { groups, names } = useMemo(() => {
    const items = pages.map((page) => ({
      group: page.name,
      items: componentsOf([page]).map((one) => ({ value: one.componentid, label: nameOf(one) })),
    }));
    const shown = new Map(items.flatMap((page) => page.items.map((one) => [one.value, one.label] as const)));
    const deleted = known.filter(({ componentid }) => !shown.has(componentid));
    return {
      groups:
        deleted.length === 0
          ? items
          : [...items, { group: texts.deleted, items: deleted.map((one) => ({ value: one.componentid, label: one.name })) }],
      names: new Map([...known.map((one) => [one.componentid, one.name] as const), ...shown]),
    };
  }, [pages, known, texts]);
  return (
    <div className={styles.components}>
      <MultiSelect
        name="components"
        label={texts.components}
        description={texts.componentsHelp}
        data={groups}
        searchable
        hidePickedOptions
        value={value.map(({ componentid }) => componentid)}
        error={error}
        onChange={(ids) =>
          change(ids.map((id) => value.find(({ componentid }) => componentid === id) ?? { componentid: id, status: defaultStatus(kind) }))
        }
      />
      {value.map((one) => (
        <Select
          key={one.componentid}
          size="xs"
          label={texts.statusOf(names.get(one.componentid) ?? one.componentid)}
          data={componentStatuses.map((status) => ({ value: status, label: statuspages.componentStatuses[status] }))}
          allowDeselect={false}
          value={one.status}
          onChange={(chosen) => {
            const status = find(componentStatuses, chosen);
            if (status) change(value.map((other) => (other === one ? { ...one, status } : other)));
          }}
        />
      ))}
    </div>
  );
}
