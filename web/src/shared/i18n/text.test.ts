import { expect, test } from "vitest";
import { de } from "./de";
import { en } from "./en";
import type { Texts } from "./index";
import { localeOf, preferred } from "./language";

test("the user's choice has priority over the browser's, and an unknown language means English", () => {
  expect(preferred("de", ["en-US"])).toBe("de");
  expect(preferred(null, ["fr-FR", "de-AT", "en"])).toBe("de");
  expect(preferred("xx", ["fr"])).toBe("en");
});

test("times are formatted for the reader's region", () => {
  expect(localeOf("en", ["de-DE", "en-GB"])).toBe("en-GB");
  expect(localeOf("en", ["en", "en-GB"])).toBe("en-GB");
  expect(localeOf("en", ["de-DE", "de", "en"])).toBe("en-DE");
  expect(localeOf("de", ["en-US", "de-AT"])).toBe("de-AT");
  expect(localeOf("de", ["zh-Hant-TW", "de"])).toBe("de-TW");
  expect(localeOf("en", ["en"])).toBe("en");
});

/** Every text with its path. */
function texts(node: unknown, path = ""): [string, string][] {
  if (typeof node === "string") return [[path, node]];
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => texts(value, `${path}.${key}`));
}

/** Without the service's sentences, which are English in every language. */
const own = (all: Texts) => ({ ...all, service: all.service.codes });

test("no text is empty, and no German text is still English", () => {
  const english = new Map(texts(own(en)));
  const german = texts(own(de));
  for (const [path, text] of german) expect(text.trim(), path).not.toBe("");
  const same = german.filter(([path, text]) => text.length > 12 && english.get(path) === text);
  expect(same).toEqual([]);
});
