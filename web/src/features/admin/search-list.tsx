/** A list that is searched on the server, with a button for older entries. */
import { TextInput } from "@mantine/core";
import { useQuery, type UseQueryOptions } from "@tanstack/react-query";
import { useDeferredValue, useState, type ReactNode } from "react";
import { useTexts } from "../../shared/i18n";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { LoadMore } from "../../shared/ui/load-more";
import { Loading } from "../../shared/ui/loading";
import { Panel } from "../../shared/ui/page";
import styles from "./admin.module.css";

/** How many are shown at first, and after "Show older". */
const LIMITS = [50, 250, 1000] as const;

interface Props<T> {
  /** What is searched for. */
  search: string;
  query: (q: string, limit: number) => UseQueryOptions<T[], Error, T[], (string | number)[]>;
  children: (items: T[]) => ReactNode;
}

export function SearchList<T>({ search, query, children }: Props<T>) {
  const { admin } = useTexts();
  const [q, setQ] = useState("");
  const [limit, setLimit] = useState<number>(LIMITS[0]);
  const { data, error, refetch } = useQuery(query(useDeferredValue(q.trim()), limit));
  return (
    <Panel flush>
      <div className={styles.search}>
        <TextInput
          type="search"
          aria-label={search}
          placeholder={search}
          value={q}
          onChange={({ currentTarget }) => setQ(currentTarget.value)}
        />
      </div>
      {error && !data && <ErrorNotice error={error} retry={() => void refetch()} />}
      {!data && !error && <Loading />}
      {data?.length === 0 && <p className={styles.nothing}>{admin.none}</p>}
      {data && data.length > 0 && children(data)}
      {data && <LoadMore shown={data.length} limit={limit} steps={LIMITS} show={setLimit} />}
    </Panel>
  );
}
