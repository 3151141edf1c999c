/** The commands of the palette, and which of them match a query. */
import type { ReactNode } from "react";

export const groups = ["views", "monitors", "notifiers", "teams", "actions", "pages", "settings"] as const;
export type Group = (typeof groups)[number];

export interface Command {
  /** Unique among all commands. */
  id: string;
  group: Group;
  label: string;
  /** Shown beside the label, and searched too. */
  hint?: string;
  icon: ReactNode;
  run: () => void;
}

/** How many of each group are shown, without and with a query. */
const FEW = 5;
const MANY = 8;

/** The commands whose label or hint contains every word, best first within each group. */
export function search(commands: readonly Command[], query: string): Command[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const limit = words.length === 0 ? FEW : MANY;
  return groups.flatMap((group) =>
    commands
      .filter((command) => command.group === group)
      .map((command) => ({ command, rank: rankOf(command, words) }))
      .filter(({ rank }) => rank !== null)
      .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0))
      .slice(0, limit)
      .map(({ command }) => command),
  );
}

/** Zero if the label starts with the query, one if a word of it does, two if it is found elsewhere. */
function rankOf({ label, hint = "" }: Command, words: readonly string[]): number | null {
  const [first] = words;
  if (first === undefined) return 0;
  const name = label.toLowerCase();
  const all = `${name} ${hint.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return null;
  if (name.startsWith(words.join(" "))) return 0;
  return name.split(/[^\p{L}\p{N}]+/u).some((part) => part.startsWith(first)) ? 1 : 2;
}

/** Commands by group, each with its position in the whole list. */
export function groupsOf(found: readonly Command[]): [Group, [Command, number][]][] {
  const indexed = found.map((command, index): [Command, number] => [command, index]);
  return groups
    .map((group): [Group, [Command, number][]] => [group, indexed.filter(([command]) => command.group === group)])
    .filter(([, members]) => members.length > 0);
}
