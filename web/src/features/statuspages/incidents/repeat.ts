/** How a maintenance repeats: a few common ways, or a recurrence rule. */

export const repeats = ["never", "daily", "weekly", "biweekly", "monthly", "custom"] as const;
export type Repeat = (typeof repeats)[number];

export interface RepeatValues {
  repeat: Repeat;
  /** The last date, or an empty text. */
  repeat_until: string;
  /** The rule, if it is none of the others. */
  rrule: string;
}

export const initialRepeat: RepeatValues = { repeat: "never", repeat_until: "", rrule: "" };

const rules: Record<Exclude<Repeat, "never" | "custom">, string> = {
  daily: "FREQ=DAILY",
  weekly: "FREQ=WEEKLY",
  biweekly: "FREQ=WEEKLY;INTERVAL=2",
  monthly: "FREQ=MONTHLY",
};

export function repeatText({ repeat, repeat_until, rrule }: RepeatValues): string {
  if (repeat === "never") return "";
  if (repeat === "custom") return rrule.trim();
  return repeat_until === "" ? rules[repeat] : `${rules[repeat]};UNTIL=${repeat_until.replaceAll("-", "")}T235959`;
}

export function repeatValues(text: string): RepeatValues {
  if (text === "") return initialRepeat;
  const [, rule, year, month, day] = /^(.*?)(?:;UNTIL=(\d{4})(\d\d)(\d\d)T235959)?$/.exec(text) ?? [];
  const known = repeats.find((one) => one !== "never" && one !== "custom" && rules[one] === rule);
  const until = year === undefined ? "" : [year, month, day].join("-");
  return known ? { repeat: known, repeat_until: until, rrule: text } : { repeat: "custom", repeat_until: "", rrule: text };
}
