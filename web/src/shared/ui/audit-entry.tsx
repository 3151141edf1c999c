/** Entries of an audit log: a sentence, where it came from, and the changed fields. */
import type { ReactNode } from "react";
import { find } from "../api/closed-sets";
import type { components } from "../api/schema";
import { useTexts, type Texts } from "../i18n";
import { Link } from "../router";
import styles from "./audit-entry.module.css";
import { Moment } from "./time";

export type Entry = components["schemas"]["AuditEntry"];
type Change = components["schemas"]["AuditChange"];
type Action = components["schemas"]["KnownAuditAction"];

export function AuditEntries({ entries }: { entries: Entry[] }) {
  return (
    <ol className={styles.entries}>
      {entries.map((entry) => (
        <EntryRow key={entry.seq} entry={entry} />
      ))}
    </ol>
  );
}

function EntryRow({ entry }: { entry: Entry }) {
  const t = useTexts();
  const { from, changes } = entry;
  return (
    <li className={styles.entry}>
      <span className={styles.what}>
        <span className={styles.actor}>{actorText(entry, t)}</span> {actionText(entry, t)} <ObjectName entry={entry} />
      </span>
      <span className={styles.when}>
        <Moment at={entry.at} />
      </span>
      {from.address && (
        <span className={styles.from} title={from.agent ?? undefined}>
          {entry.via.kind === "key" ? t.audit.withKey(from.address) : t.audit.from(from.address)}
        </span>
      )}
      {changes.length > 0 && (
        <details className={styles.changes}>
          <summary>{t.audit.changes(changes.length)}</summary>
          <dl>
            {changes.map((change) => (
              <ChangeLine key={change.field} change={change} />
            ))}
          </dl>
        </details>
      )}
    </li>
  );
}

function actorText({ actor }: Entry, { audit }: Texts): string {
  if (actor.kind === "operator") return audit.operator;
  if (actor.kind === "service") return audit.service(actor.name ?? "");
  return actor.name ?? audit.formerMember;
}

/** An action that this version does not know yet is shown as it is. */
function actionText({ action, actor, object }: Entry, { audit }: Texts): string {
  // With an invitation; otherwise someone else has added the member.
  if (action === "member.join" && actor.id === object.id) return audit.joined;
  const known = find(Object.keys(audit.actions) as Action[], action);
  return known ? audit.actions[known] : action;
}

function ObjectName({ entry: { action, object, changes } }: { entry: Entry }): ReactNode {
  const t = useTexts();
  // Several alerts in one call; their names are one of the changes.
  if (object.kind === "alerts") return <b>{text(changes.find(({ field }) => field === "monitors")?.to)}</b>;
  const name = object.name ?? t.audit.formerMember;
  if (name === "") return null;
  const isThere = !action.endsWith(".delete");
  if (object.kind === "monitor" && isThere) return <Link to={`/monitor/${object.id}`}>{name}</Link>;
  if (object.kind === "notifier" && isThere) return <Link to={`/notifier/${object.id}`}>{name}</Link>;
  if (object.kind === "alert") return <Link to={`/alert/${object.id}`}>{name}</Link>;
  return <b>{name}</b>;
}

function ChangeLine({ change: { field, from, to } }: { change: Change }) {
  const { audit } = useTexts();
  return (
    <div className={styles.change}>
      <dt>{field}</dt>
      <dd>
        {from === undefined && to === "changed" ? (
          audit.secret
        ) : (
          <>
            {from !== undefined && <del>{text(from)}</del>}
            {to !== undefined && <ins>{text(to)}</ins>}
          </>
        )}
      </dd>
    </div>
  );
}

function text(value: unknown): string {
  if (typeof value === "string") return value === "" ? "–" : value;
  if (Array.isArray(value)) return value.length === 0 ? "–" : value.map(text).join(", ");
  return value === null ? "–" : JSON.stringify(value);
}
