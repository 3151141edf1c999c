import { expect, test } from "vitest";
import { parseUserAgent } from "./user-agent";

test("browsers are recognized, although each claims to be the others", () => {
  const chrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0 Safari/537.36";
  expect(parseUserAgent(chrome)).toEqual({ browser: "Chrome", system: "Windows" });
  expect(parseUserAgent(`${chrome} Edg/130.0`)).toEqual({ browser: "Edge", system: "Windows" });
  expect(parseUserAgent("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")).toEqual({
    browser: "Firefox",
    system: "Linux",
  });
  expect(parseUserAgent("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile/15E148 Safari/604.1")).toEqual({
    browser: "Safari",
    system: "iOS",
  });
});

test("other clients are named by the first word, and an empty header gives no name", () => {
  expect(parseUserAgent("curl/8.14.1")).toEqual({ browser: "curl", system: "" });
  expect(parseUserAgent("")).toEqual({ browser: "", system: "" });
});
