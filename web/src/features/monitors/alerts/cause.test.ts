import { expect, test } from "vitest";
import { de } from "../../../shared/i18n/de";
import { en } from "../../../shared/i18n/en";
import rust from "../../../../../crates/wakeful-core/src/certificate.rs?raw";
import { causeOf } from "./cause";

const certificate = (cause: string) => ({ kind: "certificate" as const, cause });

test("the day a certificate expires is shown as a date, in the reader's language", () => {
  const soon = certificate("the certificate of CN=shop.example expires in 7 days, on 2027-01-15T08:00:00.000Z");
  expect(causeOf(soon, en, "en-GB")).toBe("Certificate for shop.example expires on 15 Jan 2027.");
  expect(causeOf(soon, de, "de")).toBe("Das Zertifikat für shop.example läuft am 15.01.2027 ab.");
  const over = certificate("the certificate of shop.example expired on 2027-01-15T08:00:00.000Z");
  expect(causeOf(over, en, "en-GB")).toBe("Certificate for shop.example expired on 15 Jan 2027.");
});

test("every sentence of the service about what expires is recognized", () => {
  const find = (pattern: RegExp) => [...rust.matchAll(pattern)].map(([, found]) => found ?? "");
  const sentences = find(/"(\{what\} \{subject\}[^"]+)"/g);
  const things = find(/=> "(the [a-z ]+ of)"/g);
  expect([sentences.length, things.length]).toEqual([4, 3]);
  for (const sentence of sentences.flatMap((one) => things.map((what) => one.replace("{what}", what)))) {
    const said = sentence
      .replace("{subject}", "a.example")
      .replace("{not_after}", "2027-01-15T08:00:00.000Z")
      .replace(/\{\w*\}/, "3");
    expect(causeOf(certificate(said), en, "en"), said).toMatch(
      /^(Certificate for|Client certificate of|Registration of) a\.example expire[sd] on Jan 15, 2027\.$/,
    );
  }
});

test("an unknown sentence and the message of a check stay unchanged", () => {
  expect(causeOf(certificate("the certificate is odd"), en, "en")).toBe("the certificate is odd");
  expect(causeOf({ kind: "outage", cause: "503 Service Unavailable" }, de, "de")).toBe("503 Service Unavailable");
});
