import { defineConfig } from "@playwright/test";

const whole = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Runs the web app in Chromium against the real binary; e2e/service.ts starts one per worker. */
export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: true,
  // CI sets 1: what passes only the second time is reported as flaky.
  retries: Number(process.env.PLAYWRIGHT_RETRIES ?? 0),
  reporter: [["list"]],
  use: {
    viewport: { width: 1280, height: 860 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    screenshot: "only-on-failure",
    // Nothing waits for something to fade in.
    contextOptions: { reducedMotion: "reduce" },
    // Requests of a service worker pass by the tests' own routes; server-away.spec.ts allows it.
    serviceWorkers: "block",
    launchOptions: launch(process.env.CHROMIUM_SHELL ?? whole),
  },
  projects: [
    { name: "shell", testIgnore: "webpush.spec.ts" },
    // Chromium's headless shell receives no push messages.
    { name: "whole", testMatch: "webpush.spec.ts", use: { launchOptions: launch(whole) } },
  ],
});

function launch(executablePath: string) {
  return {
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      // A name for this machine that, unlike localhost, is not a secure context.
      "--host-resolver-rules=MAP wakeful.home 127.0.0.1",
    ],
  };
}
