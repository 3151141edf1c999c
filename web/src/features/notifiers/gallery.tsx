/** The kinds of notifiers to choose from, with a search. */
import { TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState, type KeyboardEvent } from "react";
import type { OfferedKind } from "../../shared/api/closed-sets";
import { useAccountNotifier } from "../../shared/api/notifiers";
import { useTexts } from "../../shared/i18n";
import { searchKinds } from "../../shared/lib/search-kinds";
import { ErrorNotice } from "../../shared/ui/error-notice";
import { Search } from "../../shared/ui/icons";
import { Loading } from "../../shared/ui/loading";
import { kindsQuery } from "./data";
import styles from "./gallery.module.css";
import { moved } from "./gallery-move";
import { isService, offered } from "./kinds";
import { KindMark } from "./mark";

export function Gallery({ choose }: { choose: (kind: OfferedKind) => void }) {
  const { notifiers, notifierKinds: texts } = useTexts();
  const { data, error, refetch } = useQuery(kindsQuery);
  // A user has one personal notifier.
  const own = useAccountNotifier();
  const [query, setQuery] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const isOffered = (kind: OfferedKind) =>
    kind === "account" ? own.offered && !own.stored : !isService(kind) || data?.some(({ type }) => type === kind) === true;
  const found = searchKinds(
    offered.filter(isOffered).map((kind) => ({ kind, name: notifiers.kinds[kind], about: texts.about[kind] })),
    query,
  );
  const focus = (index: number) => (index < 0 ? field.current : list.current?.querySelectorAll("button")[index])?.focus();
  const inField = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown") focus(0);
    else if (event.key === "Enter" && query.trim() !== "" && found[0]) choose(found[0].kind);
    // It must not submit the form around the dialog.
    else if (event.key !== "Enter") return;
    event.preventDefault();
  };
  const inList = (event: KeyboardEvent, index: number) => {
    const columns = list.current ? getComputedStyle(list.current).gridTemplateColumns.split(" ").length : 1;
    const next = moved(event.key, index, columns, found.length);
    if (next === null) return;
    focus(next);
    event.preventDefault();
  };
  return (
    <div className={styles.gallery}>
      <TextInput
        ref={field}
        type="search"
        label={texts.search}
        placeholder={texts.searchPlaceholder}
        leftSection={<Search />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={inField}
        autoComplete="off"
        data-autofocus
        autoFocus
      />
      <p className="sr-only" role="status">
        {query === "" ? "" : found.length === 0 ? texts.none : texts.found(found.length)}
      </p>
      {!data && (error ? <ErrorNotice error={error} retry={() => void refetch()} /> : <Loading />)}
      {data && found.length === 0 && (
        <p className={styles.none} aria-hidden="true">
          {texts.none}
        </p>
      )}
      <ul ref={list} className={styles.tiles} aria-label={texts.list}>
        {found.map(({ kind, name, about }, index) => (
          <li key={kind}>
            <button type="button" className={styles.tile} onClick={() => choose(kind)} onKeyDown={(event) => inList(event, index)}>
              <KindMark kind={kind} />
              <span>
                <b>{name}</b>
                <span className={styles.about}>{about}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
