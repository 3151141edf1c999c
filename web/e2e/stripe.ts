import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { expect, freePort, listens, test as base } from "./service";

const SECRET = "sk_test_12345";
export const SCRIPT = "https://js.stripe.com/v3/";

/**
 * A minimal stand-in for Stripe's script: one field in place of Stripe's frame, and
 * a call to Stripe's API, which the test routes to localstripe.
 */
export const standIn = `
  window.Stripe = (key) => ({
    elements: () => ({
      create: () => {
        const field = document.createElement("input");
        field.setAttribute("aria-label", "Stripe's number");
        return { mount: (place) => place.append(field), destroy: () => field.remove(), on: () => undefined, field };
      },
    }),
    createPaymentMethod: async ({ card, billing_details }) => {
      const body = new URLSearchParams({ key, type: "card", "card[number]": card.field.value, "card[exp_month]": "4",
        "card[exp_year]": "2039", "card[cvc]": "012", "billing_details[name]": billing_details.name });
      const answer = await fetch("https://api.stripe.com/v1/payment_methods", { method: "POST", body });
      const json = await answer.json();
      return answer.ok ? { paymentMethod: json } : { error: { message: "Your card number is invalid." } };
    },
  });
`;

/** A service that uses Stripe, with localstripe in its place. */
export const test = base.extend<{ sent: string[] }, { stripe: string; publishable: string }>({
  publishable: ["pk_test_12345", { option: true, scope: "worker" }],
  stripe: [
    // eslint-disable-next-line no-empty-pattern -- Playwright requires a destructuring pattern here
    async ({}, use) => {
      const program = resolve("../target/venv/bin/localstripe");
      if (!existsSync(program)) throw new Error("localstripe is missing: run scripts/install-test-deps");
      const port = await freePort();
      const server = spawn(program, ["--from-scratch", "--port", String(port)], { stdio: "ignore" });
      await expect.poll(() => listens(port), { timeout: 30_000 }).toBe(true);
      await use(`http://127.0.0.1:${port}`);
      const ended = once(server, "exit");
      server.kill("SIGTERM");
      await ended;
    },
    { scope: "worker", timeout: 60_000 },
  ],
  settings: [
    async ({ stripe, publishable }, use) =>
      use({
        WAKEFUL_BILLING_ENABLED: "true",
        WAKEFUL_BILLING_PROCESSOR: "stripe",
        WAKEFUL_BILLING_STRIPE_URL: stripe,
        WAKEFUL_BILLING_STRIPE_KEY: SECRET,
        WAKEFUL_BILLING_STRIPE_PUBLISHABLE_KEY: publishable,
      }),
    { scope: "worker" },
  ],
  /** Every request that the page sends to the service. */
  sent: async ({ page, service, stripe }, use) => {
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.url().startsWith(service.url)) sent.push(`${request.url()} ${request.postData() ?? ""}`);
    });
    await page.route("https://*.stripe.com/**", (route) => route.abort());
    await page.route(SCRIPT, (route) => route.fulfill({ contentType: "text/javascript", body: standIn }));
    await page.route("https://api.stripe.com/**", async (route) => {
      const headers = { authorization: `Bearer ${SECRET}`, "content-type": "application/x-www-form-urlencoded" };
      const body = (route.request().postData() ?? "").replace(/^key=[^&]*&/, "");
      const answer = await fetch(stripe + new URL(route.request().url()).pathname, { method: "POST", headers, body });
      const open = { "access-control-allow-origin": "*" };
      await route.fulfill({ status: answer.status, contentType: "application/json", headers: open, body: await answer.text() });
    });
    await use(sent);
  },
});
