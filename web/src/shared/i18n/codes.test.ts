/** Every error code of the service has a German text. */
import { expect, test } from "vitest";
import { de } from "./de";
import { en } from "./en";

const read = (files: Record<string, string>) => Object.values(files).join("\n");
const api = read(import.meta.glob<string>("../../../../crates/wakeful-api/src/**/*.rs", { query: "?raw", import: "default", eager: true }));
const payment = read(
  import.meta.glob<string>("../../../../crates/wakeful-outbound/src/payment/mod.rs", { query: "?raw", import: "default", eager: true }),
);

const refusals = [...api.matchAll(/(?:StatusCode::\w+,|unauthorized\(|conflict\()\s*"([a-z_]+)"/g)].map(([, code]) => code ?? "");
const declines = [...payment.matchAll(/Self::\w+ => "([a-z_]+)"/g)].map(([, code]) => code ?? "");

/** The messages of these carry details; refusals.de.ts translates them. */
const detailed = ["invalid_fields", "notifier_linked", "not_delivered", "plan_limit"];

test("the error codes are found in the service's source", () => {
  expect(refusals).toEqual(
    expect.arrayContaining(["not_authenticated", "bad_credentials", "notifier_linked", "unavailable", "body_too_large"]),
  );
  expect(declines).toEqual(expect.arrayContaining(["card_declined", "method_gone"]));
});

test("every code has a German text", () => {
  const missing = [...new Set([...refusals, ...declines])].filter(
    (code) => !detailed.includes(code) && de.errors.codes[code] === undefined,
  );
  expect(missing).toEqual([]);
});

test("no text mentions fields or calls of the API", () => {
  for (const { codes } of [en.errors, de.errors]) {
    for (const [code, text] of Object.entries(codes)) expect(text, code).not.toMatch(/\w+_\w+|mfacode|tokenid|isactive|Bearer|\w\/\w/);
  }
});
