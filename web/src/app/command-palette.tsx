/**
 * The command palette: finds monitors, notifiers, saved views, pages and settings, and
 * runs actions. The focus stays in the field; `aria-activedescendant` is the current result.
 */
import { useId, useState, type KeyboardEvent } from "react";
import { useTexts } from "../shared/i18n";
import { Dialog } from "../shared/ui/dialog";
import { Search } from "../shared/ui/icons";
import styles from "./command-palette.module.css";
import { groupsOf, search, type Command } from "./commands";
import { useCommands } from "./use-commands";

interface Props {
  close: () => void;
  openDialog: (which: "help" | "everywhere" | "team") => void;
}

export default function CommandPalette({ close, openDialog }: Props) {
  const { palette } = useTexts();
  const commands = useCommands(openDialog);
  const [query, setQuery] = useState("");
  const [current, setCurrent] = useState(0);
  const id = useId();
  const found = search(commands, query);
  const optionId = (index: number) => `${id}-${index}`;

  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    command.run();
  };
  const move = (to: number) => {
    const next = (to + found.length) % found.length;
    setCurrent(next);
    document.getElementById(optionId(next))?.scrollIntoView({ block: "nearest" });
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "ArrowDown" && found.length > 0) move(current + 1);
    else if (event.key === "ArrowUp" && found.length > 0) move(current - 1);
    else if (event.key === "Enter") run(found[current]);
    else return;
    event.preventDefault();
  };

  return (
    <Dialog
      title={palette.title}
      close={close}
      size={640}
      withCloseButton={false}
      centered={false}
      classNames={{ header: "sr-only", body: styles.body ?? "" }}
    >
      <div className={styles.field}>
        <Search />
        <input
          type="text"
          role="combobox"
          aria-label={palette.placeholder}
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-autocomplete="list"
          aria-activedescendant={found.length > 0 ? optionId(current) : undefined}
          placeholder={palette.placeholder}
          value={query}
          onChange={(event) => {
            setQuery(event.currentTarget.value);
            setCurrent(0);
          }}
          onKeyDown={press}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
      </div>
      <p className="sr-only" role="status">
        {found.length === 0 ? palette.none : palette.count(found.length)}
      </p>
      {found.length === 0 && (
        <p className={styles.none} aria-hidden="true">
          {palette.none}
        </p>
      )}
      <Results id={id} found={found} current={current} optionId={optionId} point={setCurrent} run={run} />
    </Dialog>
  );
}

interface ResultsProps {
  id: string;
  found: readonly Command[];
  current: number;
  optionId: (index: number) => string;
  point: (index: number) => void;
  run: (command: Command) => void;
}

function Results({ id, found, current, optionId, point, run }: ResultsProps) {
  const { palette } = useTexts();
  return (
    <div id={`${id}-list`} role="listbox" aria-label={palette.results} className={styles.results} hidden={found.length === 0}>
      {groupsOf(found).map(([group, members]) => (
        <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
          <p id={`${id}-${group}`} className={styles.group}>
            {palette.groups[group]}
          </p>
          {members.map(([command, index]) => (
            <div
              key={command.id}
              id={optionId(index)}
              role="option"
              aria-selected={index === current}
              className={styles.option}
              onPointerMove={() => index !== current && point(index)}
              onClick={() => run(command)}
            >
              {command.icon}
              <span className={styles.label}>{command.label}</span>
              {command.hint !== undefined && <span className={styles.hint}>{command.hint}</span>}
            </div>
          ))}
        </div>
      ))}
    </div>
  );
}
