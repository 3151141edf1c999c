import { expect, test } from "vitest";
import { curlOf } from "./curl";

test("a request becomes a command line without its credentials", () => {
  const headers = [
    ["accept", "*/*"],
    ["authorization", "[redacted]"],
    ["accept-encoding", "gzip"],
    ["x-it", "it's"],
  ];
  expect(curlOf({ method: "GET", url: "https://a.example/?q=1", headers })).toBe(
    `curl -i -H 'accept: */*' -H 'x-it: it'\\''s' 'https://a.example/?q=1'`,
  );
  expect(curlOf({ method: "POST", url: "https://a.example/", headers: [] })).toBe("curl -i -X POST 'https://a.example/'");
});
