/**
 * What the service says of a wrong field, in the reader's language. The service
 * speaks English; a language brings a table of its sentences. What is not in
 * the table stays English rather than being left out.
 */

/** A sentence of the service and what it means; `{}` is whatever stands there, `{n}` a number. */
export type Refusals = readonly (readonly [string, string])[];

export function translate(message: string, table: Refusals): string {
  for (const [said, means] of table) {
    const parts = pattern(said).exec(message)?.slice(1);
    if (parts) return means.replaceAll("{}", () => translate(parts.shift() ?? "", table));
  }
  return message;
}

/** As it is said, or as it stands under a field: with a capital and a full stop. */
function pattern(said: string): RegExp {
  const fixed = said.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${fixed.join("(.+?)").replaceAll("\\{n\\}", "(\\d+)")}\\.?$`, "i");
}
