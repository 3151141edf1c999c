import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Locator } from "@playwright/test";
import { expect, test } from "./service";

const row = "[data-row]";

test("the chart: percentiles and phases, an hour to a year, zoom and reset", async ({ page, member, service }) => {
  const { monitorid } = await member.api.monitor({
    type: "http",
    name: "shop",
    http: { url: service.target.url },
    heartbeat_interval: 1,
    retries: 0,
  });
  await page.goto(`/monitor/${monitorid}`);
  await expect(page.getByRole("img", { name: /^Last [4-9] checks/ })).toBeVisible({ timeout: 20_000 });
  await page.reload();
  const chart = page.getByRole("img", { name: /^Response time: / });
  await expect(chart).toHaveAccessibleName(/0 outages/);
  await expect(page.getByText("Median (p50)")).toBeVisible();
  await page.getByRole("button", { name: "Phases" }).click();
  await expect(page.getByRole("listitem").filter({ hasText: "Waiting (TTFB)" }).first()).toBeVisible();
  for (const range of ["24 h", "7 d", "30 d", "90 d", "1 year", "6 h"]) {
    await page.getByRole("button", { name: range, exact: true }).click();
    await expect(page.getByRole("button", { name: range, exact: true })).toHaveAttribute("aria-pressed", "true");
    await expect(chart).toBeVisible();
  }
  const box = await chart.boundingBox();
  if (!box) throw new Error("the chart is not visible");
  await page.mouse.move(box.x + box.width * 0.7, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.95, box.y + 110, { steps: 5 });
  await page.mouse.up();
  await page.getByRole("button", { name: "Reset zoom" }).click();
  await expect(page.getByRole("button", { name: "6 h" })).toHaveAttribute("aria-pressed", "true");
});

test("an outage is shown in the statistics and in the chart", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup" });
  await member.api.report(monitorid, "up", { load_time: 20 });
  await member.api.report(monitorid, "down", { message: "disk full" });
  await member.api.report(monitorid, "up", { load_time: 40 });
  await page.goto(`/monitor/${monitorid}`);
  const day = page.getByRole("row", { name: /^24 h/ });
  await expect(day).toContainText("%");
  await expect(day.getByRole("cell").nth(1)).toHaveText("1");
  await expect(page.getByRole("img", { name: /^Reported duration: / })).toHaveAccessibleName(/1 outage/);
  await expect(page.getByRole("row")).toHaveCount(6);

  // The report covers the whole team, so it is on the alerts page.
  await expect(page.getByRole("button", { name: "Monthly report" })).toHaveCount(0);
  await page.goto("/alerts");
  await page.getByRole("button", { name: "Monthly report" }).click();
  const opened = page.waitForEvent("popup");
  await page.getByRole("menuitem").first().click();
  const report = await opened;
  await expect(report.getByRole("row").filter({ hasText: "backup" })).toContainText("1");
  await report.close();
});

/** The shaded ranges at the top of the chart, as fractions of its width. */
function stripes(chart: Locator): Promise<[number, number][]> {
  return chart.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
    const data = canvas.getContext("2d")?.getImageData(0, 12, canvas.width, 1).data ?? [];
    const found: [number, number][] = [];
    let begin = -1;
    for (let x = 0; x <= canvas.width; x++) {
      const [red = 0, green = 0, , alpha = 0] = data.slice(4 * x, 4 * x + 4);
      const shaded = x < canvas.width && alpha > 0 && red > green + 40;
      if (shaded && begin < 0) begin = x;
      if (!shaded && begin >= 0) {
        found.push([begin / canvas.width, x / canvas.width]);
        begin = -1;
      }
    }
    return found;
  });
}

test("an outage over several checks is one range in the chart, from start to end", async ({ page, member, service }) => {
  const { monitorid } = await member.api.monitor({ name: member.email, heartbeat_interval: 60, grace: 3600 });
  execFileSync("python3", [join(import.meta.dirname, "outage.py"), join(service.data, "wakeful.db"), member.email]);
  await page.goto(`/monitor/${monitorid}`);
  const chart = page.getByRole("img", { name: /^Reported duration: / });
  await expect(chart).toHaveAccessibleName(/, 1 outage$/);
  await expect(page.getByRole("row", { name: /^24 h/ }).getByRole("cell").nth(1)).toHaveText("1");
  await expect.poll(() => stripes(chart)).toHaveLength(1);
  const [[from, to] = [0, 0]] = await stripes(chart);
  // Four minutes of the displayed hour.
  expect(to - from).toBeGreaterThan(0.05);
  expect(to - from).toBeLessThan(0.08);
});

/** The columns with a line or an area of the chart, as fractions of its width. */
function drawn(chart: Locator): Promise<number[]> {
  return chart.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
    const { data = [] } = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height) ?? {};
    const columns = new Set<number>();
    for (let at = 0; at < data.length; at += 4) {
      const [red = 0, , blue = 0, alpha = 0] = data.slice(at, at + 4);
      if (alpha > 20 && blue > red + 60) columns.add((at / 4) % canvas.width);
    }
    return [...columns].map((x) => x / canvas.width);
  });
}

test("nothing is drawn across an outage, and the line reaches the present", async ({ page, member, service }) => {
  const { monitorid } = await member.api.monitor({ name: member.email, heartbeat_interval: 60, grace: 3600 });
  execFileSync("python3", [join(import.meta.dirname, "outage.py"), join(service.data, "wakeful.db"), member.email]);
  // At 24 h, a step is longer than the outage, so that every step has a value.
  for (const range of ["1h", "24h"]) {
    await page.goto(`/monitor/${monitorid}?range=${range}`);
    const chart = page.getByRole("img", { name: /^Reported duration: / });
    await expect.poll(() => stripes(chart)).toHaveLength(1);
    const [[from, to] = [0, 0]] = await stripes(chart);
    const columns = await drawn(chart);
    // The edges are blurred over a pixel.
    expect(columns.filter((x) => x > from + 0.002 && x < to - 0.002)).toEqual([]);
    expect(columns.some((x) => x < from)).toBe(true);
    expect(columns.some((x) => x > to)).toBe(true);
    const width = await chart.locator("canvas").evaluate((canvas) => canvas.clientWidth);
    expect(Math.max(...columns)).toBeGreaterThan((width - 11) / width);
  }
});

test("the chart of a young monitor covers the chosen range and marks the time before its first check", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup" });
  await member.api.report(monitorid, "up", { load_time: 20 });
  const labels = page.locator("[data-axis=x]");
  const first = page.getByRole("listitem").filter({ hasText: "Before the first check" });
  await page.goto(`/monitor/${monitorid}`);
  await expect(labels.first()).toHaveText(/^\d\d:\d\d$|^\d+ \w+$/);
  await expect(first).toBeVisible();
  expect(await labels.count()).toBeGreaterThan(3);
  await page.getByRole("button", { name: "1 year" }).click();
  await expect(page).toHaveURL(/\?range=365d$/);
  await expect(labels.filter({ hasText: /^[A-Z][a-z]+( \d{4})?$/ }).nth(5)).toBeVisible();
  await expect(first).toBeVisible();
  const columns = await drawn(page.getByRole("img", { name: /^Reported duration: / }));
  expect(Math.min(...columns), "only the last days have data").toBeGreaterThan(0.9);
});

test("range and zoom are in the URL, so that an outage can be linked", async ({ page, member, service }) => {
  const { monitorid } = await member.api.monitor({ name: member.email, heartbeat_interval: 60, grace: 3600 });
  execFileSync("python3", [join(import.meta.dirname, "outage.py"), join(service.data, "wakeful.db"), member.email]);
  await page.goto(`/monitor/${monitorid}`);
  await page.getByRole("button", { name: "6 h", exact: true }).click();
  await page.reload();
  await expect(page.getByRole("button", { name: "6 h", exact: true })).toHaveAttribute("aria-pressed", "true");
  const chart = page.getByRole("img", { name: /^Reported duration: / });
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  if (!box) throw new Error("the chart is not visible");
  await page.mouse.move(box.x + box.width * 0.9, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.985, box.y + 100, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d{4}-\d\d-\d\dT\d\d%3A\d\d%3A\d\dZ&to=/);
  const link = page.url();
  await page.goto("/");
  const asked = page.waitForRequest(/\/series\?/);
  await page.goto(link);
  const query = new URL((await asked).url()).searchParams;
  for (const end of ["from", "to"]) {
    expect(Date.parse(query.get(end) ?? ""), end).toBe(Date.parse(new URL(link).searchParams.get(end) ?? ""));
  }
  await expect(chart).toHaveAccessibleName(/, 1 outage$/);
  await page.getByRole("button", { name: "Reset zoom" }).click();
  await expect(page).toHaveURL(/\?range=6h$/);
  await expect(page.getByRole("button", { name: "6 h", exact: true })).toHaveAttribute("aria-pressed", "true");
});

test("labels of the axes do not touch, none is cut off, and no date is repeated", async ({ page, member, service }) => {
  const { monitorid } = await member.api.monitor({ name: member.email, heartbeat_interval: 60, grace: 3600 });
  execFileSync("python3", [join(import.meta.dirname, "outage.py"), join(service.data, "wakeful.db"), member.email]);
  const chart = page.getByRole("img", { name: /^Reported duration: / });
  for (const width of [320, 834, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    await page.goto(`/monitor/${monitorid}`);
    for (const range of ["6 h", "24 h", "7 d", "30 d", "90 d", "1 year", "1 h"]) {
      await page.getByRole("button", { name: range, exact: true }).click();
      await expect(page.locator("[data-old]")).toHaveCount(0);
      await expect(chart.locator("[data-axis=x]").nth(1)).toBeVisible();
      const { frame, boxes } = await chart.evaluate((element) => ({
        frame: element.getBoundingClientRect().toJSON() as Box,
        boxes: Array.from(element.querySelectorAll("[data-axis]"), (label) => ({
          ...(label.getBoundingClientRect().toJSON() as Box),
          text: label.textContent,
        })),
      }));
      const where = `${range} at ${width} px`;
      for (const box of boxes) {
        expect(box.left >= frame.left && box.right <= frame.right && box.top >= frame.top, `${box.text}, ${where}`).toBe(true);
        const touched = boxes.filter((other) => other !== box && meet(box, other)).map(({ text }) => text);
        expect(touched, `${box.text}, ${where}`).toEqual([]);
      }
      const texts = boxes.map(({ text }) => text);
      expect(texts, where).toEqual([...new Set(texts)]);
      const values = texts.filter((text) => text === "0" || text.endsWith(" ms"));
      expect(values, where).toEqual(["0", "5 ms", "10 ms", "15 ms", "20 ms", "25 ms"]);
    }
  }
});

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Whether two labels are less than four pixels apart. */
function meet(one: Box, other: Box): boolean {
  const apart = one.right + 4 < other.left || other.right + 4 < one.left || one.bottom < other.top || other.bottom < one.top;
  return !apart;
}

test("a single down report is an outage until now in the chart", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup" });
  await member.api.report(monitorid, "up", { load_time: 20 });
  await member.api.report(monitorid, "down", { message: "disk full" });
  await page.goto(`/monitor/${monitorid}`);
  const chart = page.getByRole("img", { name: /^Reported duration: / });
  await expect(chart).toHaveAccessibleName(/, 1 outage$/);
  // Moves the page's clock one minute ahead; it requests data until then.
  await page.clock.install({ time: Date.now() + 60_000 });
  await page.reload();
  await expect.poll(async () => (await stripes(chart)).at(-1)?.[1] ?? 0).toBeGreaterThan(0.97);
  expect(await stripes(chart)).toHaveLength(1);
});

test("rows show recent checks and uptime, requested in one batch and updated by events", async ({ page, member }) => {
  const ids: string[] = [];
  for (const name of ["one", "two", "three"]) {
    const { monitorid } = await member.api.monitor({ name });
    await member.api.report(monitorid, "up", { load_time: 10 });
    ids.push(monitorid);
  }
  const asked: string[] = [];
  // Requests of the dashboard that is still open are not counted.
  await page.goto("about:blank");
  page.on("request", (request) => {
    if (request.url().includes("/monitors/summary")) asked.push(request.url());
  });
  await page.goto("/");
  await expect(page.locator(row).filter({ hasText: "100 %" })).toHaveCount(3);
  expect(asked).toHaveLength(1);
  await expect(page.getByText("Live", { exact: true })).toBeVisible();
  await member.api.report(ids[0] ?? "", "up", { load_time: 11 });
  await expect(page.locator(row).filter({ hasText: "one" }).getByRole("img", { name: "Last 2 checks" })).toBeVisible();
  expect(asked, "a heartbeat is applied from the event alone").toHaveLength(1);
});

test("a bar's tooltip shows time, message and response time, in the list and on the detail page", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup" });
  await member.api.report(monitorid, "up", { message: "all files saved", load_time: 12 });
  await member.api.report(monitorid, "down", { message: "disk full" });
  for (const path of ["/", `/monitor/${monitorid}`]) {
    await page.goto(path);
    const bars = page.getByRole("img", { name: /^Last 2 checks, 1 failed/ });
    const box = await bars.boundingBox();
    if (!box) throw new Error("the bars are not visible");
    const room = path === "/" ? 30 : 120;
    const at = (fromRight: number) =>
      bars.hover({ position: { x: box.width - ((fromRight - 0.5) * box.width) / room, y: box.height / 2 } });
    const tip = bars.locator("xpath=following-sibling::span");
    await at(1);
    await expect(tip).toHaveText(/^Down\d\d:\d\d.*disk full$/);
    await at(2);
    await expect(tip).toHaveText(/^Up\d\d:\d\d.* · 12 msall files saved$/);
    await at(3);
    await expect(tip).toHaveCount(0);
  }
});

test("monitors are grouped by tag, and groups can be collapsed", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "shop", tags: "eu, prod" });
  await member.api.monitor({ name: "search", tags: "prod" });
  await member.api.monitor({ name: "lamp" });
  await member.api.report(monitorid, "down");
  await page.goto("/");
  await page.getByLabel("Group by tag").check();
  await expect(page).toHaveURL(/group=tag/);
  const names = page.locator(`${row} a`);
  await expect(names).toHaveText(["shop", "shop", "search", "lamp"]);
  const prod = page.getByRole("button", { name: /^prod/ });
  await expect(prod).toContainText("1 Down");
  await prod.click();
  await expect(prod).toHaveAttribute("aria-expanded", "false");
  await expect(names).toHaveText(["shop", "lamp"]);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect(page.getByRole("link", { name: "lamp", exact: true })).toBeFocused();
});

test("after switching the scheme, the chart is drawn in its colors", async ({ page, member }) => {
  const { monitorid } = await member.api.monitor({ name: "backup" });
  for (const load_time of [20, 40]) await member.api.report(monitorid, "up", { load_time });
  await page.evaluate(() => localStorage.setItem("wakeful.scheme", "dark"));
  await page.goto(`/monitor/${monitorid}`);
  const chart = page.getByRole("img", { name: /^Reported duration: / });
  await expect(chart.locator("canvas")).toBeVisible();
  // The brightness of the chart's grid, 0 to 255.
  const grid = () =>
    chart.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
      const data = canvas.getContext("2d")?.getImageData(Math.round(canvas.width / 2), 0, 1, canvas.height).data ?? [];
      for (let y = 0; y < canvas.height; y++) if ((data[4 * y + 3] ?? 0) === 255) return data[4 * y] ?? 0;
      return -1;
    });
  await expect.poll(grid).toBeLessThan(80);
  await page.getByRole("button", { name: /Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Light" }).click();
  await expect.poll(grid).toBeGreaterThan(180);
  await page.getByRole("button", { name: /Account menu/ }).click();
  await page.getByRole("menuitem", { name: "Dark" }).click();
  await expect.poll(grid).toBeLessThan(80);
});

test.describe("by finger", () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });

  test("a range of the chart is selected by touch, and the zoom is reset", async ({ page, context, member, service }) => {
    const { monitorid } = await member.api.monitor({ name: member.email, heartbeat_interval: 60, grace: 3600 });
    execFileSync("python3", [join(import.meta.dirname, "outage.py"), join(service.data, "wakeful.db"), member.email]);
    await page.goto(`/monitor/${monitorid}`);
    const over = page.locator(".u-over");
    await over.scrollIntoViewIfNeeded();
    await expect(over).toHaveCSS("touch-action", "pan-y");
    const box = await over.boundingBox();
    if (!box) throw new Error("the chart is not visible");
    const finger = await context.newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", share: number) =>
      finger.send("Input.dispatchTouchEvent", {
        type,
        touchPoints: type === "touchEnd" ? [] : [{ x: box.x + box.width * share, y: box.y + box.height / 2 }],
      });
    await touch("touchStart", 0.2);
    for (const share of [0.3, 0.4, 0.6, 0.8]) await touch("touchMove", share);
    await touch("touchEnd", 0.8);
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await expect(page.getByRole("button", { name: "Reset zoom" })).toHaveCount(0);
  });
});
