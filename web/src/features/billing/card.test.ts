import { expect, test } from "vitest";
import { expiryOf, grouped, isExpired, money } from "./card";

test("digits are grouped as on a card", () => {
  expect(grouped("4242424242424242")).toBe("4242 4242 4242 4242");
  expect(grouped("4242-42")).toBe("4242 42");
  expect(grouped("378282246310005")).toBe("3782 822463 10005");
  expect(grouped("no digits")).toBe("");
});

test("the usual ways to write an expiry are accepted", () => {
  expect(expiryOf("12 / 30")).toEqual({ month: 12, year: 2030 });
  expect(expiryOf("1/2031")).toEqual({ month: 1, year: 2031 });
  expect(expiryOf("0130")).toEqual({ month: 1, year: 2030 });
  for (const wrong of ["", "13/30", "0/30", "12", "12/3", "a/b"]) expect(expiryOf(wrong), wrong).toBeNull();
});

test("a card is valid through the last day of its month", () => {
  const card = { expiryMonth: 2, expiryYear: 2027 };
  expect(isExpired(card, new Date("2027-02-28T23:59:59Z"))).toBe(false);
  expect(isExpired(card, new Date("2027-03-01T00:00:00Z"))).toBe(true);
});

test("amounts are formatted for the reader's locale", () => {
  expect(money(900, "usd", "en-US")).toBe("$9");
  expect(money(1234, "usd", "de-DE")).toBe("12,34\u00a0$");
});
