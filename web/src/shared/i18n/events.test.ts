/** The texts for events match the event types of the service. */
import { expect, test } from "vitest";
import { eventTypes } from "../api/events";
import { de } from "./de";
import { en } from "./en";

const core = Object.values(
  import.meta.glob<string>("../../../../crates/wakeful-core/src/**/*.rs", { query: "?raw", import: "default", eager: true }),
).join("\n");

test("the event types are those of the service", () => {
  const types = new Set([...core.matchAll(/const [A-Z_]+: &str = "((?:monitor|notifier)\.[a-z_]+)"/g)].map(([, type]) => type ?? ""));
  expect([...types].sort()).toEqual([...eventTypes].sort());
});

test("every event type has its own text in deliveries and in the preview, in each language", () => {
  for (const texts of [en, de]) {
    for (const table of [texts.notifiers.events, texts.notifiers.previews]) {
      expect(Object.keys(table).sort()).toEqual([...eventTypes].sort());
      expect(new Set(Object.values(table)).size).toBe(eventTypes.length);
    }
  }
});
