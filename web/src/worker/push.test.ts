import { describe, expect, it } from "vitest";
import { notificationOf, parseMessage, pathOf } from "./push";

const message = {
  title: "Shop is down",
  body: "503",
  tag: "alert-1",
  url: "https://wakeful.example/alert/1",
  silent: false,
  urgent: true,
  action: "https://wakeful.example/api/action/wkt_1",
};

describe("a push message", () => {
  it("is shown with its tag and a button, and stays if it is urgent", () => {
    const { title, options } = notificationOf(parseMessage(JSON.stringify(message)), "de-DE");
    expect(title).toBe("Shop is down");
    expect(options).toMatchObject({ body: "503", tag: "alert-1", renotify: true, requireInteraction: true });
    expect(options.actions).toEqual([{ action: "acknowledge", title: "Bestätigen" }]);
  });

  it("has no button and makes no sound when the outage is over", () => {
    const over = { ...message, action: undefined, silent: true, urgent: false };
    const { options } = notificationOf(over, "en-US");
    expect(options).toMatchObject({ silent: true, renotify: false, requireInteraction: false });
    expect(options.actions).toBeUndefined();
  });

  it.each([undefined, "", "x", "null", "[]", JSON.stringify({ title: "x" })])("is shown although it cannot be read: %s", (text) => {
    expect(parseMessage(text)).toBeNull();
    expect(notificationOf(null, "en").title).toBe("Wakeful");
  });

  it("opens only paths of this server", () => {
    expect(pathOf("https://evil.example/alert/1?x")).toBe("/alert/1");
    expect(pathOf("javascript:alert(1)")).not.toContain("://");
    expect(pathOf(undefined)).toBe("/");
  });
});
