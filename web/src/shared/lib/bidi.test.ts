import { expect, test } from "vitest";
import { withoutBidiControls } from "./bidi";

test("names cannot reverse text, wherever they are in a response", () => {
  const response = { count: 2, monitors: [{ name: "invoice\u202Efdp.exe", tags: ["\u2066eu\u2069"], load_time: null }] };
  expect(withoutBidiControls(response)).toEqual({ count: 2, monitors: [{ name: "invoicefdp.exe", tags: ["eu"], load_time: null }] });
});

test("Hebrew and Arabic names remain, and so does what is edited as it is", () => {
  expect(withoutBidiControls({ name: "חנות \u200Fمتجر" })).toEqual({ name: "חנות \u200Fمتجر" });
  expect(withoutBidiControls({ webhook: { template: "\u2068{{ name }}\u2069" } })).toEqual({
    webhook: { template: "\u2068{{ name }}\u2069" },
  });
});
