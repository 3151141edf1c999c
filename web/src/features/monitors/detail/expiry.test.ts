import { describe, expect, test } from "vitest";
import { shortName, daysLeft, distrustReason, certificateNames, toneOf } from "./expiry";

const now = Date.parse("2026-11-15T09:30:00Z");
const until = (expires: string, trusted = true) => ({
  subject: "CN=a.example",
  issuer: "C=US, O=Let's Encrypt, CN=R11",
  names: ["a.example", "b.example"],
  expires,
  trusted,
  since: "2026-11-01T00:00:00Z",
  chain: [],
});

describe("a certificate", () => {
  test("is fine, a warning from 21 days before it expires, and urgent in the last week", () => {
    expect(toneOf(until("2026-12-07T09:30:00Z"), now)).toBe("up");
    expect(toneOf(until("2026-12-06T09:30:00Z"), now)).toBe("wait");
    expect(toneOf(until("2026-11-22T09:30:00Z"), now)).toBe("down");
    expect(toneOf(until("2027-11-15T09:30:00Z", false), now)).toBe("down");
  });

  test("has whole days left, negative once expired", () => {
    expect(daysLeft(until("2026-11-17T09:29:00Z"), now)).toBe(1);
    expect(daysLeft(until("2026-11-15T10:00:00Z"), now)).toBe(0);
    expect(daysLeft(until("2026-11-15T09:00:00Z"), now)).toBe(-1);
  });

  test("is not trusted for a reason", () => {
    expect(distrustReason(until("2027-01-01T00:00:00Z"), now)).toBeNull();
    expect(distrustReason(until("2026-01-01T00:00:00Z", false), now)).toBe("expired");
    expect(distrustReason(until("2027-01-01T00:00:00Z", false), now)).toBe("other");
    expect(distrustReason({ ...until("2027-01-01T00:00:00Z", false), issuer: "CN=a.example" }, now)).toBe("selfSigned");
  });

  test("is named by its common name and organization", () => {
    expect(shortName("C=US, O=Let's Encrypt, CN=R11")).toBe("R11 (Let's Encrypt)");
    expect(shortName("CN=a.example")).toBe("a.example");
    expect(shortName("O=Example, Inc., C=US")).toBe("Example, Inc.");
    expect(shortName("serialNumber=7")).toBe("serialNumber=7");
    expect(certificateNames(until("2027-01-01T00:00:00Z"))).toBe("a.example, b.example");
    expect(certificateNames({ names: [], subject: "CN=old.example, O=Old" })).toBe("old.example (Old)");
  });
});
