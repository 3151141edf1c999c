/** Why a message would be sent. The service says it in English. */
import type { Texts } from "../../../shared/i18n";

/** One message may have several reasons. */
const BETWEEN = /; (?=linked to the monitor|rule |step \d+ of )/;

export function reasonText(whys: string, texts: Texts): string {
  return whys
    .split(BETWEEN)
    .map((why) => oneReason(why, texts))
    .join("; ");
}

function oneReason(why: string, { routing: { reasons } }: Texts): string {
  if (why === "linked to the monitor") return reasons.linked;
  const [, rule] = /^rule (.*)$/s.exec(why) ?? [];
  if (rule !== undefined) return reasons.rule(rule);
  const [, step, policy] = /^step (\d+) of (.*)$/s.exec(why) ?? [];
  if (step !== undefined && policy !== undefined) return reasons.step(Number(step), policy);
  const [, failed] = /^no step of (.*) reaches anybody$/s.exec(why) ?? [];
  return failed === undefined ? why : reasons.nobody(failed);
}

/** The recipient of such a message. */
export function recipientText(name: string, { routing }: Texts): string {
  return name === "every member of the team" ? routing.everyMember : name;
}
