/** What an entry of the timeline says: the service stores a kind and, in English, a name or what somebody wrote. */
import type { TimelineKind } from "../../../shared/api/closed-sets";
import type { TimelineEntry } from "./data";

export interface TimelineNote {
  sentence: Exclude<TimelineKind, "delivery"> | "asBefore";
  /** The end of the sentence: a user, a severity, a window or a monitor. */
  object: string;
  comment: string;
}

/** What the service writes if an outage is acknowledged because the one before it was. */
const AS_BEFORE = "as the outage before";

export function noteOf({ kind, text }: Pick<TimelineEntry, "kind" | "text">): TimelineNote {
  const said = { object: "", comment: text };
  if (kind === "delivery") return { ...said, sentence: "notified" };
  if (kind === "acknowledged" && text === AS_BEFORE) return { sentence: "asBefore", object: "", comment: "" };
  if (kind === "assigned" || kind === "severity") return { sentence: kind, object: text, comment: "" };
  if (kind === "suppressed" || kind === "released" || kind === "paused") return { sentence: kind, object: windowOf(text), comment: "" };
  if (kind === "not_sent") return { sentence: kind, object: /\d+/.exec(text)?.[0] ?? text, comment: "" };
  return { ...said, sentence: kind };
}

/** The name in `maintenance Backups` and `maintenance Backups is over`, or of a monitor. */
function windowOf(text: string): string {
  return text.replace(/^(maintenance|dependency|group) /, "").replace(/ is over$/, "");
}
