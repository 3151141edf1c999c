/** The types of monitors to choose from, in groups and with a search. */
import { TextInput } from "@mantine/core";
import { useId, useState, type KeyboardEvent } from "react";
import { valuesOfSet } from "../../../shared/api/closed-sets";
import { searchKinds } from "../../../shared/lib/search-kinds";
import { useTexts } from "../../../shared/i18n";
import { Search } from "../../../shared/ui/icons";
import { types, type Type } from "../data";
import styles from "./edit.module.css";

type TypeGroup = "web" | "network" | "jobs" | "groups";

const groups = valuesOfSet<TypeGroup>({ web: true, network: true, jobs: true, groups: true });

const groupOf: Record<Type, TypeGroup> = {
  http: "web",
  http_keyword: "web",
  ping: "network",
  tcp: "network",
  dns: "network",
  tls: "network",
  domain: "network",
  api: "jobs",
  group: "groups",
};

export function TypePicker({ chosen, choose }: { chosen: Type; choose: (type: Type) => void }) {
  const t = useTexts();
  const id = useId();
  const [query, setQuery] = useState("");
  const described = types.map((type) => ({
    kind: type,
    name: t.monitors.types[type],
    about: `${t.form.typeHelp[type]} ${t.form.typeGroups[groupOf[type]]}`,
  }));
  const found = searchKinds(described, query);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    // It must not submit the form.
    event.preventDefault();
    if (query.trim() !== "" && found[0]) choose(found[0].kind);
  };
  return (
    <fieldset className={styles.types}>
      <legend className="sr-only">{t.monitors.type}</legend>
      <TextInput
        type="search"
        aria-label={t.form.searchTypes}
        placeholder={t.form.searchTypes}
        leftSection={<Search />}
        value={query}
        onChange={(event) => setQuery(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        autoComplete="off"
        className={styles.typeSearch}
      />
      <p className={query === "" || found.length > 0 ? "sr-only" : styles.noTypes} role="status">
        {query === "" ? "" : t.form.foundTypes(found.length)}
      </p>
      {groups.map((group) => {
        const inGroup = types.filter((type) => groupOf[type] === group && found.some(({ kind }) => kind === type));
        if (inGroup.length === 0) return null;
        return (
          <div key={group} role="group" aria-labelledby={`${id}-${group}`} className={styles.typeGroup}>
            <span id={`${id}-${group}`} className={styles.typeGroupName}>
              {t.form.typeGroups[group]}
            </span>
            {inGroup.map((type) => (
              <label key={type} className={styles.type} data-chosen={chosen === type || undefined}>
                <input type="radio" name="type" value={type} checked={chosen === type} onChange={() => choose(type)} />
                <b>{t.monitors.types[type]}</b>
                <span>{t.form.typeHelp[type]}</span>
              </label>
            ))}
          </div>
        );
      })}
    </fieldset>
  );
}
