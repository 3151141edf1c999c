/** The values of sets that only alerting has; the first screen does without them. */
import { valuesOfSet, type AlertKind, type Day, type Severity } from "./closed-sets";

/** The most urgent one first. */
export const severities = valuesOfSet<Severity>({ critical: true, warning: true, info: true });
export const alertKinds = valuesOfSet<AlertKind>({
  outage: true,
  certificate: true,
  domain: true,
  flapping: true,
  degraded: true,
  change: true,
});
/** From Monday on. */
export const days = valuesOfSet<Day>({ mon: true, tue: true, wed: true, thu: true, fri: true, sat: true, sun: true });
