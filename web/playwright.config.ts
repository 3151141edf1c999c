import { defineConfig } from "@playwright/test";

/** The page in Debian's Chromium against the real binary; e2e/service.ts starts one for each worker. */
export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: true,
  reporter: [["list"]],
  use: {
    viewport: { width: 1280, height: 860 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        // This machine by a name that browsers do not trust as they trust localhost.
        "--host-resolver-rules=MAP wakeful.home 127.0.0.1",
      ],
    },
  },
});
