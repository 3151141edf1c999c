/** The web app while the server does not respond, and after it was updated. */
import type { Page } from "@playwright/test";
import { startProxy } from "./cuttable-proxy";
import { expect, logIn, PASSWORD, signUp, test, type Service } from "./service";

// What the browser and the router log about a view that cannot be loaded or that crashes.
test.use({ provoked: /preload CSS|dynamically imported module|reading 'email'/ });

let users = 0;

/** A user who is logged in through a connection that the test can cut. */
async function openThroughProxy(page: Page, service: Service) {
  const proxy = await startProxy(service.url);
  const email = `away${process.pid}.${users++}@example.com`;
  await signUp(page.request, email);
  await logIn(page, email, PASSWORD, proxy.url);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  return proxy;
}

test("a view that is not loaded yet says that the server is away, and opens when it is back", async ({ page, service }) => {
  const proxy = await openThroughProxy(page, service);
  await proxy.cut();
  await page.getByRole("link", { name: "Notifiers" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "This page couldn’t load" })).toBeVisible();
  await expect(page.getByText("The server isn’t responding.")).toBeVisible();
  await expect(page.getByText("updated")).toHaveCount(0);
  await proxy.restore();
  await expect(page.getByRole("heading", { level: 1, name: "Notifiers" })).toBeVisible({ timeout: 20_000 });
  await proxy.cut();
});

test("only a server with another version leads to the message about an update", async ({ page, member: _member }) => {
  let html = await (await page.request.get("/", { headers: { accept: "text/html" } })).text();
  await page.route(/\/assets\/(?!first-screen)/, (route) => route.fulfill({ status: 404, body: "" }));
  await page.route(
    (url) => url.pathname === "/",
    (route) => route.fulfill({ contentType: "text/html", body: html }),
  );
  await page.getByRole("link", { name: "Alerts" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "This page couldn’t load" })).toBeVisible();
  await expect(page.getByText("Try loading it again.")).toBeVisible();
  html = html.replace(/\/assets\/first-screen-[^"]+\.js/, "/assets/first-screen-newer.js");
  await page.getByRole("link", { name: "Team" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Wakeful has been updated" })).toBeVisible();
});

test.describe("with the service worker", () => {
  test.use({ serviceWorkers: "allow" });

  /** Waits until the worker is in control and has stored the files of this page. */
  async function stored(page: Page) {
    await expect
      .poll(() =>
        page.evaluate(async () => {
          const names = await caches.keys();
          const cache = await caches.open(names[0] ?? "none");
          const missing = await Promise.all(
            performance
              .getEntriesByType("resource")
              .map(({ name }) => name)
              .filter((name) => name.includes("/assets/"))
              .map(async (name) => !(await cache.match(name))),
          );
          return names.length === 1 && navigator.serviceWorker.controller !== null && !missing.includes(true);
        }),
      )
      .toBe(true);
  }

  test("a reload while the server is away shows a message, and the page when it is back", async ({ page, service }) => {
    const proxy = await openThroughProxy(page, service);
    await stored(page);
    await proxy.cut();
    await page.reload();
    await expect(page.getByRole("alert")).toContainText("Can’t reach the server.", { timeout: 20_000 });
    await proxy.restore();
    await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible({ timeout: 20_000 });
    await proxy.cut();
  });

  test("no response of the API is stored, and the page always comes from the server that responds", async ({ page, member: _member }) => {
    await stored(page);
    const paths = await page.evaluate(async () => {
      const cache = await caches.open((await caches.keys())[0] ?? "none");
      return (await cache.keys()).map(({ url }) => new URL(url).pathname);
    });
    expect(paths).toContain("/");
    expect(paths.filter((path) => path !== "/" && !path.startsWith("/assets/"))).toEqual([]);
    await page.evaluate(async () => {
      const cache = await caches.open((await caches.keys())[0] ?? "none");
      await cache.put("/", new Response("an old version", { headers: { "content-type": "text/html" } }));
    });
    await page.reload();
    await expect(page.getByRole("navigation", { name: "Main" })).toBeVisible();
    await expect(page.getByText("an old version")).toHaveCount(0);
  });

  test("the button on an error page removes the worker and its files", async ({ page, member: _member }) => {
    // The next view's data makes it crash.
    await page.route("**/api/v1/team/members*", (route) => route.fulfill({ json: { success: true, members: [null] } }));
    await page.reload();
    await stored(page);
    await page.getByRole("link", { name: "Team" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Something went wrong" })).toBeVisible();
    await page.evaluate(async () => (await caches.open("old")).put("/old", new Response("old")));
    const reloaded = page.waitForEvent("load");
    await page.getByRole("button", { name: "Reload" }).click();
    await reloaded;
    expect(await page.evaluate(() => caches.has("old"))).toBe(false);
  });
});
