/**
 * Since when a monitor is in its state. The service knows when the status changed
 * last, but a pause does not change it: a pause is a gap between checks in which
 * the monitor was saved.
 */
import type { Monitor } from "../data";

/** More than this many missing checks are a gap. */
const MAX_MISSING = 2.5;

const YEAR = 365 * 86_400_000;

type Times = Pick<Monitor, "created" | "modified" | "last_check" | "status_since" | "heartbeat_interval" | "grace">;

/** A smaller difference between the bounds of a pause is not worth mentioning: in ms, and as a part of the time since. */
const NEGLIGIBLE = 60_000;
const NEGLIGIBLE_PART = 0.01;

/**
 * When a paused monitor was paused, in ms: after its last check, and when it was saved last at the latest.
 * It may have been edited after the pause, so the time is exact only if the two are close together.
 */
export function pausedSince(monitor: Times, now: number): { at: number; exact: boolean } {
  const last = Date.parse(monitor.last_check ?? monitor.created);
  const at = Math.max(last, Date.parse(monitor.modified));
  return { at, exact: at - last <= Math.max(NEGLIGIBLE, NEGLIGIBLE_PART * (now - last)) };
}

/**
 * Since when an active monitor has its status and is checked, in ms; null if it has
 * none yet. `checks` are the times of checks until `now` in ms, oldest first, or of
 * steps of so many seconds that contain checks.
 */
export function statusSince(monitor: Times, checks: readonly number[], now: number, step = 0): number | null {
  if (!monitor.status_since) return null;
  const longest = Math.max(longestGap(monitor), MAX_MISSING * step * 1000);
  const resumed = resumedAt(checks, Date.parse(monitor.modified), longest, now);
  return Math.max(Date.parse(monitor.status_since), resumed ?? 0);
}

/** The first check after the last pause; if there was none yet, when the monitor was saved. */
function resumedAt(checks: readonly number[], saved: number, longest: number, now: number): number | null {
  for (let index = checks.length - 1; index >= 0; index--) {
    const before = checks[index] ?? 0;
    const after = checks[index + 1];
    if (saved >= before && (after ?? now) - before > longest) return after ?? saved;
  }
  return null;
}

/**
 * The range to search for an earlier pause, or null: the latest checks do not reach
 * back to the last time it was saved, and it was resumed then at the latest.
 */
export function earlierRange(monitor: Times, checks: readonly number[]): { from: number; to: number } | null {
  const [since, saved] = [Date.parse(monitor.status_since ?? ""), Date.parse(monitor.modified)];
  if (!(since < saved && saved < (checks[0] ?? 0))) return null;
  return { from: Math.max(since, saved - YEAR), to: saved + longestGap(monitor) };
}

function longestGap({ heartbeat_interval, grace }: Times): number {
  return (MAX_MISSING * heartbeat_interval + (grace ?? 0)) * 1000;
}
