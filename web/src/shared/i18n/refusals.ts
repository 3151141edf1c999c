/**
 * Translates messages of the service about invalid fields. The service responds in
 * English; other languages have a table of its sentences. A message that is not in
 * the table stays in English.
 */

/** Sentences of the service and their translations; `{}` is any text, `{n}` a number. */
export type Refusals = readonly (readonly [string, string])[];

export function translate(message: string, table: Refusals): string {
  for (const [sentence, translation] of table) {
    const parts = pattern(sentence).exec(message)?.slice(1);
    if (parts) return translation.replaceAll("{}", () => translate(parts.shift() ?? "", table));
  }
  return message;
}

/** Matches the sentence as the service writes it, or as shown under a field: capitalized, with a full stop. */
function pattern(sentence: string): RegExp {
  const fixed = sentence.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${fixed.join("(.+?)").replaceAll("\\{n\\}", "(\\d+)")}\\.?$`, "i");
}
