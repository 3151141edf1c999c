/** The lists of pages outside routes.tsx: those that the browser tests open, and those of the command palette. */
import { expect, test } from "vitest";

const files = import.meta.glob<string>(["./*.tsx", "../../e2e/*.ts"], { query: "?raw", import: "default", eager: true });
const source = (name: string) => files[name] ?? "";

const paths = [...source("./routes.tsx").matchAll(/path: "(\/[^"]+)"/g)].map(([, path]) => path ?? "");

test("the tests of all pages open every page", () => {
  expect(paths).toEqual(expect.arrayContaining(["/login", "/team", "/monitor/:id"]));
  const opened = source("../../e2e/sample-data.ts") + source("../../e2e/accessibility.spec.ts");
  const pattern = (path: string) => new RegExp(`["\`]${path.replace(":id", "\\$\\{\\w+(\\.\\w+)?\\}")}["\`#]`);
  expect(paths.filter((path) => !pattern(path).test(opened))).toEqual([]);
});

test("the command palette has every page of the navigation", () => {
  const items = [...source("./shell.tsx").matchAll(/<Item to="([^"]+)"/g)].map(([, path]) => path ?? "");
  expect(items).toEqual(expect.arrayContaining(["/", "/team"]));
  expect(items.filter((path) => !new RegExp(`["\`]${path}["\`#]`).test(source("./use-commands.tsx")))).toEqual([]);
});
