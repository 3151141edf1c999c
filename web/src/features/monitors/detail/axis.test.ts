import { expect, test } from "vitest";
import { timeTicks, valueTicks } from "./axis";

const seconds = (...parts: [number, number, number, number?, number?]) => new Date(...parts).getTime() / 1000;
/** A font in which every character is 7 pixels wide. */
const measure = (text: string) => text.length * 7;
const labels = (from: number, to: number, width: number) => timeTicks(from, to, width, measure, "en-GB").map(({ label }) => label);

test("ticks within a day are round times, and midnight is shown as its date", () => {
  const to = seconds(2026, 10, 16, 19, 20);
  expect(labels(to - 86_400, to, 1000)).toEqual([
    ...["20:00", "22:00", "16 Nov", "02:00", "04:00", "06:00", "08:00", "10:00", "12:00", "14:00", "16:00", "18:00"],
  ]);
  expect(labels(to - 3600, to, 300)).toEqual(["18:30", "18:45", "19:00", "19:15"]);
});

test("a narrow axis has two whole labels at any time of the day", () => {
  for (let minute = 0; minute < 1440; minute += 7) {
    const to = seconds(2026, 10, 16, 0, minute);
    const whole = timeTicks(to - 86_400, to, 205, measure, "en-GB").filter(
      ({ at, label }) => ((at - to + 86_400) / 86_400) * 205 + measure(label) / 2 <= 205,
    );
    expect(whole.length, `at minute ${minute}`).toBeGreaterThan(1);
  }
});

test("within a week there is one label for each day", () => {
  const to = seconds(2026, 10, 16, 19, 20);
  const shown = labels(to - 7 * 86_400, to, 1400);
  expect(shown).toEqual(["10 Nov", "11 Nov", "12 Nov", "13 Nov", "14 Nov", "15 Nov", "16 Nov"]);
});

test("a year shows months, with the year in January", () => {
  const shown = labels(seconds(2025, 10, 16), seconds(2026, 10, 16), 1000);
  expect(shown).toHaveLength(12);
  expect(shown.slice(0, 3)).toEqual(["Dec", "Jan 2026", "Feb"]);
});

test("labels never touch, at any width and over any range", () => {
  const to = seconds(2026, 2, 30, 11, 7);
  for (const hours of [0.02, 0.3, 1, 6, 24, 50, 168, 720, 2160, 8760]) {
    for (const width of [180, 320, 700, 1100, 3000]) {
      const from = to - hours * 3600;
      const ticks = timeTicks(from, to, width, measure, "en-US");
      expect(ticks.length, `${hours} h in ${width} px`).toBeGreaterThan(0);
      ticks.slice(1).forEach((tick, index) => {
        const before = ticks[index];
        const distance = ((tick.at - (before?.at ?? 0)) / (to - from)) * width;
        expect(distance).toBeGreaterThan((measure(tick.label) + measure(before?.label ?? "")) / 2);
      });
    }
  }
});

test("response times have at most six round ticks of one unit, the last one above the data", () => {
  const shown = (max: number, locale = "en") => valueTicks(max, locale).map(({ label }) => label);
  expect(shown(243)).toEqual(["0", "50 ms", "100 ms", "150 ms", "200 ms", "250 ms"]);
  expect(shown(13)).toEqual(["0", "5 ms", "10 ms", "15 ms"]);
  expect(shown(0.75)).toEqual(["0", "0.2 ms", "0.4 ms", "0.6 ms", "0.8 ms"]);
  expect(shown(0), "no data").toEqual(["0"]);
  expect(shown(1900, "de")).toEqual(["0", "0,5 s", "1 s", "1,5 s", "2 s"]);
  expect(shown(30_000)).toEqual(["0", "10 s", "20 s", "30 s"]);
});
