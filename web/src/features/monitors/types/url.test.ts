import { expect, test } from "vitest";
import { hostOf, withScheme } from "./url";

test.each([
  [" example.com/x ", "https://example.com/x"],
  ["example.com:8080", "https://example.com:8080"],
  ["localhost:3000/health", "https://localhost:3000/health"],
  ["http://example.com", "http://example.com"],
  ["HTTPS://example.com", "HTTPS://example.com"],
  ["", ""],
])("“%s” is checked as “%s”", (typed, url) => {
  expect(withScheme(typed)).toBe(url);
});

test.each(["ftp://example.com", "htp:/foo", "http:/foo", "mailto:ann@example.com"])(
  "the scheme of %s is not hidden behind https",
  (typed) => {
    expect(withScheme(typed)).toBe(typed);
  },
);

test("the host names a monitor, and an invalid URL names itself", () => {
  expect(hostOf("https://example.com:8443/x")).toBe("example.com:8443");
  expect(hostOf("htp:/foo")).toBe("htp:/foo");
});
