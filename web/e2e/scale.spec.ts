import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import type { CDPSession, Page } from "@playwright/test";
import { expect, test, type Member, type Service } from "./service";

const row = "[data-row]";
const FRAMES = 240;
/** At 60 frames per second, frames are 16.7 ms apart; a missed one makes it 33. */
const MAX_FRAME_GAP = 20;

/** Other load on the machine only adds to a time, so the best of a few attempts is the most accurate. */
const ATTEMPTS = 3;

/** Everything that the dashboard loads with an empty cache: the web app, its fonts and 2,000 monitors. */
const MAX_COLD_BYTES = 200_000;

/** How long `compute` takes on an idle machine, in ms. */
const COMPUTE_MS = 60;

function compute(): number {
  let value = 1;
  for (let step = 0; step < 50_000_000; step++) value = (Math.imul(value, 1_664_525) + 1_013_904_223) | 0;
  return value;
}

/**
 * How much slower a busy machine is; 1 on an idle one, where the limits apply unchanged. Other machines on the same
 * host show only in the time that a fixed computation takes.
 */
function loadFactor(): number {
  const times = Array.from({ length: 5 }, () => {
    const begun = performance.now();
    compute();
    return performance.now() - begun;
  });
  const median = times.sort((a, b) => a - b)[2] ?? COMPUTE_MS;
  return Math.max(1, (loadavg()[0] ?? 0) / cpus().length, median / COMPUTE_MS);
}

async function createMonitors(member: Member, service: Service, count: number) {
  await member.api.monitor({ type: "ping", name: member.email, hostname: "127.0.0.1", isactive: false });
  const script = join(import.meta.dirname, "multiply.py");
  execFileSync("python3", [script, join(service.data, "wakeful.db"), member.email, String(count - 1)]);
}

async function allLoaded(page: Page, count: string) {
  await expect(page.getByRole("button", { name: new RegExp(count) })).toBeVisible({ timeout: 30_000 });
}

interface Scrolled {
  /** The median time between frames, in ms. */
  gap: number;
  /** The longest task while scrolling, in ms; the browser reports those over 50. */
  task: number;
}

/** Scrolls frame by frame. */
async function scroll(frames: number): Promise<Scrolled> {
  const tasks: number[] = [0];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration)));
  observer.observe({ entryTypes: ["longtask"] });
  const gaps: number[] = [];
  let last = performance.now();
  for (let frame = 0; frame < frames; frame++) {
    window.scrollBy(0, 120);
    const now = await new Promise<number>(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  observer.disconnect();
  return { gap: gaps.sort((a, b) => a - b)[frames >> 1] ?? Infinity, task: Math.max(...tasks) };
}

const work = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];

/** Time spent on scripts, layout and styles so far, in ms. Painting is excluded, since tests have no GPU. */
async function busy(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  return metrics.reduce((sum, { name, value }) => (work.includes(name) ? sum + 1000 * value : sum), 0);
}

test("ten thousand monitors load quickly and scroll smoothly", async ({ page, member, service }) => {
  test.setTimeout(180_000);
  await createMonitors(member, service, 10_000);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  // The first visit fills the browser's cache.
  await page.goto("/");
  await allLoaded(page, "10,000");

  let shown = Infinity;
  for (let tries = 0; tries < ATTEMPTS && shown > 800; tries++) {
    await page.goto("/");
    await page.locator(row).first().waitFor();
    shown = Math.min(shown, await page.evaluate(() => performance.now()));
    await allLoaded(page, "10,000");
  }
  let [frame, gap, task] = [Infinity, Infinity, Infinity];
  for (let tries = 0; tries < ATTEMPTS && (task > 100 || gap > MAX_FRAME_GAP); tries++) {
    const before = await busy(cdp);
    const scrolled = await page.evaluate(scroll, FRAMES);
    frame = Math.min(frame, ((await busy(cdp)) - before) / FRAMES);
    [gap, task] = [Math.min(gap, scrolled.gap), Math.min(task, scrolled.task)];
  }
  const rows = await page.locator(row).count();
  const heap = await page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize);
  console.log(
    `10,000 monitors: first row after ${shown.toFixed(0)} ms; scrolling, ${frame.toFixed(1)} ms of work a frame, ` +
      `median ${gap.toFixed(1)} ms between frames, longest task ${task.toFixed(0)} ms; ` +
      `${rows} rows in the page, heap ${(heap / 1e6).toFixed(0)} MB; bounds of time times ${loadFactor().toFixed(1)}`,
  );
  expect(shown).toBeLessThan(800 * loadFactor());
  expect(task).toBeLessThanOrEqual(100 * loadFactor());
  expect(gap).toBeLessThanOrEqual(MAX_FRAME_GAP * loadFactor());
  expect(frame).toBeLessThan(16 * loadFactor());
  expect(rows).toBeLessThan(80);
  expect(heap).toBeLessThan(150e6);

  await page.getByRole("searchbox").fill("07777");
  await expect(page.locator(row)).toHaveCount(1);
});

/** Adds up the bytes on the wire, headers included, of the responses that `counts` accepts. */
async function countBytes(page: Page, counts: (url: URL) => boolean): Promise<() => number> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.clearBrowserCache");
  const urls = new Map<string, string>();
  let bytes = 0;
  cdp.on("Network.responseReceived", ({ requestId, response }) => urls.set(requestId, response.url));
  cdp.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
    const url = urls.get(requestId);
    if (url !== undefined && counts(new URL(url))) bytes += encodedDataLength;
  });
  return () => bytes;
}

async function dashboardLoaded(page: Page, count: string) {
  await allLoaded(page, count);
  const bars = page
    .locator(row)
    .first()
    .getByRole("img", { name: /checks?/ });
  await expect(bars).toBeVisible();
  await page.waitForLoadState("load");
}

test("the first screen of a thousand monitors is less than 100 kB on the wire", async ({ page, member, service }) => {
  await createMonitors(member, service, 1000);
  await page.goto("/settings");
  const bytes = await countBytes(page, ({ pathname }) => pathname.startsWith("/api/"));
  await page.goto("/");
  await dashboardLoaded(page, "1,000");
  console.log(`1,000 monitors: ${(bytes() / 1000).toFixed(1)} kB of data on the wire`);
  expect(bytes()).toBeGreaterThan(10_000);
  expect(bytes()).toBeLessThan(100_000);
});

test("the dashboard with 2,000 monitors is small with an empty cache, and fast with a full one", async ({ page, member, service }) => {
  await createMonitors(member, service, 2000);
  await page.goto("/settings");
  const bytes = await countBytes(page, () => true);
  await page.goto("/");
  await dashboardLoaded(page, "2,000");
  const cold = bytes();
  let shown = Infinity;
  for (let tries = 0; tries < 2 * ATTEMPTS && shown > 300; tries++) {
    await page.goto("/");
    await page.locator(row).first().waitFor();
    shown = Math.min(shown, await page.evaluate(() => performance.now()));
  }
  console.log(`2,000 monitors: ${(cold / 1000).toFixed(1)} kB on the wire, first row after ${shown.toFixed(0)} ms`);
  expect(cold).toBeGreaterThan(50_000);
  expect(cold).toBeLessThan(MAX_COLD_BYTES);
  expect(shown).toBeLessThan(300 * loadFactor());
});
