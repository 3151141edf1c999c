/** Every error code of the service has a text in each language. */
import { expect, test } from "vitest";
import openapi from "../../../../docs/openapi.json";
import type { ErrorCode } from "../api/closed-sets";
import { service as de } from "./service.de";
import { service as en } from "./service.en";

const codes = openapi.components.schemas.KnownErrorCode.enum as ErrorCode[];

/** The messages of these carry details; the tables of sentences translate them. */
const detailed: ErrorCode[] = ["invalid_fields", "notifier_linked", "policy_linked", "schedule_linked", "not_delivered", "plan_limit"];

test("the error codes are in the OpenAPI document", () => {
  expect(codes).toEqual(expect.arrayContaining([...detailed, "not_authenticated", "body_too_large", "card_declined", "method_gone"]));
});

test.each([
  ["English", en],
  ["German", de],
])("every code has a text in %s", (_, texts) => {
  expect(codes.filter((code) => !detailed.includes(code) && texts.codes[code] === undefined)).toEqual([]);
});

test("there are no texts for codes that the service does not have", () => {
  const unknown = [en, de].flatMap((texts) => Object.keys(texts.codes)).filter((code) => !codes.includes(code as ErrorCode));
  expect(unknown).toEqual([]);
});

test("no text mentions fields or calls of the API", () => {
  for (const texts of [en, de]) {
    for (const [code, text] of Object.entries(texts.codes))
      expect(text, code).not.toMatch(/\w+_\w+|mfacode|tokenid|isactive|Bearer|\w\/\w/);
  }
});
