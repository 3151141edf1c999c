/** The texts for events match the event types of the service. */
import { expect, test } from "vitest";
import openapi from "../../../../docs/openapi.json";
import { eventTypes } from "../api/events";
import { de } from "./de";
import { en } from "./en";

test("the event types are those of the service", () => {
  const types = openapi.components.schemas.KnownEventType.enum;
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
