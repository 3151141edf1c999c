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
    `curl -g -i -H 'accept: */*' -H 'x-it: it'\\''s' 'https://a.example/?q=1'`,
  );
  expect(curlOf({ method: "POST", url: "https://a.example/", headers: [] })).toBe("curl -g -i -X POST 'https://a.example/'");
  expect(curlOf({ method: "HEAD", url: "https://a.example/?q[]={1}", headers: [] })).toBe("curl -g -I 'https://a.example/?q[]={1}'");
});
