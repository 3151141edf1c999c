import { describe, expect, test } from "vitest";
import { ApiError } from "../../shared/api/error";
import { isOpenedHere, tokenOf, type CardElement } from "./stripe";

const card: CardElement = { mount: () => undefined, destroy: () => undefined, on: () => undefined };

describe("a card at Stripe", () => {
  test("becomes an ID", async () => {
    const made = () => Promise.resolve({ paymentMethod: { id: "pm_1" } });
    expect(await tokenOf({ createPaymentMethod: made }, card, "Ann")).toBe("pm_1");
  });

  test("is refused with Stripe's message", async () => {
    const refused = () => Promise.resolve({ error: { message: "Your card number is incomplete." } });
    const token = tokenOf({ createPaymentMethod: refused }, card, "Ann");
    await expect(token).rejects.toEqual(new ApiError(402, "card_refused", "Your card number is incomplete."));
  });
});

test("the document of another page is reloaded before Stripe's script is loaded", () => {
  expect(isOpenedHere("https://a.example/billing?x#y", "/billing")).toBe(true);
  expect(isOpenedHere("https://a.example/", "/billing")).toBe(false);
  expect(isOpenedHere(undefined, "/billing")).toBe(false);
});
