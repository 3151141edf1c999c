/** The fields of a JSON document, each with its path. Evidence has only the beginning of a long one: it is read up to the cut. */

/** At most so many fields are offered, and so many items of each list. */
const MAX_FIELDS = 60;
const MAX_ITEMS = 3;

export interface JsonField {
  path: string;
  /** A string without its quotes; anything else as it is written. */
  value: string;
}

/** None if the text is no JSON. */
export function jsonFields(text: string, truncated = false): JsonField[] {
  const tokens = tokensOf(text, truncated);
  if (tokens === null) return [];
  const found = new Map<string, string>();
  let at = 0;
  const next = () => tokens[at++];
  /** Reads the items of a list or an object up to its end; `item` reads one, from its first token. */
  const readItems = (end: string, item: (first: string | undefined, index: number) => boolean): boolean => {
    if (tokens[at] === end) return next() === end;
    for (let index = 0; item(next(), index); index++) {
      const separator = next();
      if (separator !== ",") return separator === end;
    }
    return false;
  };
  /** Whether a value could be read to its end. */
  const read = (token: string | undefined, path: string, offered: boolean): boolean => {
    if (token === "{") {
      return readItems("}", (name) => {
        if (name?.startsWith('"') !== true || next() !== ":") return false;
        return read(next(), path + step(JSON.parse(name) as string), offered);
      });
    }
    if (token === "[") return readItems("]", (first, index) => read(first, `${path}[${index}]`, offered && index < MAX_ITEMS));
    if (token === undefined || SIGNS.includes(token)) return false;
    const value = token.startsWith('"') ? (JSON.parse(token) as string) : token;
    // Of two fields with the same name, the last one counts.
    if (offered && (found.has(path) || found.size < MAX_FIELDS)) found.set(path, value);
    return true;
  };
  try {
    const whole = read(next(), "$", true) ? at === tokens.length : truncated && at > tokens.length;
    return whole ? [...found].map(([path, value]) => ({ path, value })) : [];
  } catch {
    // A string with an invalid escape.
    return [];
  }
}

const SIGNS = "{}[],:";
const TOKEN = /[\t\n\r ]*([{}[\],:]|"(?:[^"\\]|\\.)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/gy;

/** Null if there is something else between them. The one that is cut off is left out. */
function tokensOf(text: string, truncated: boolean): string[] | null {
  const matches = [...text.matchAll(TOKEN)];
  const tokens = matches.map(([, token = ""]) => token);
  const rest = text.slice(matches.reduce((length, [match]) => length + match.length, 0));
  if (rest.trim() === "") {
    // The digits of a number may go on.
    if (truncated && rest === "" && /\d$/.test(tokens.at(-1) ?? "")) tokens.pop();
    return tokens;
  }
  if (!truncated || !/^\s*(?:"|[-+.\w]+$)/.test(rest)) return null;
  // What follows a number without a space is a part of it.
  if (/^[-+.\w]/.test(rest)) tokens.pop();
  return tokens;
}

function step(name: string): string {
  return /^[a-z_]\w*$/i.test(name) ? `.${name}` : `['${name.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}']`;
}
