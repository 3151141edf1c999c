import { expect, test } from "vitest";
import { badgeKinds, badgeLine, badgeUrl, frameLine, scriptLine } from "./badges";
import { domainOf, proxyConfig } from "./domain-values";

const PAGE = "https://app.example.com/status/acme";

test("only badges of what the page shows are offered", () => {
  expect(badgeKinds({ display: { response_times: true, certificates: true } }, false)).toEqual(["status", "uptime/30d", "uptime/90d"]);
  expect(badgeKinds({ display: { response_times: true } }, true)).toContain("response/30d");
  expect(badgeKinds({ display: { response_times: true } }, true)).not.toContain("certificate");
});

test("the lines to copy are complete, and names cannot break them", () => {
  const badge = badgeUrl(PAGE, "shop", "uptime/30d", "plastic");
  expect(badge).toBe(`${PAGE}/component/shop/badge/uptime/30d.svg?style=plastic`);
  expect(badgeLine("markdown", badge, PAGE, "Shop [eu]")).toBe(`[![Shop eu](${badge})](${PAGE})`);
  expect(badgeLine("html", badge, PAGE, '"><script>')).toBe(`<a href="${PAGE}"><img src="${badge}" alt="&quot;&gt;&lt;script&gt;"></a>`);
  expect(frameLine(PAGE, "Acme", "c")).toContain(`src="${PAGE}/embed?component=c"`);
  expect(scriptLine(PAGE)).toContain(`${PAGE}/embed.js`);
});

test("a domain is read from what people paste", () => {
  expect(domainOf(" HTTPS://Status.Example.com/path ")).toBe("status.example.com");
  expect(domainOf("status.example.com.")).toBe("status.example.com");
  for (const wrong of ["", "localhost", "a b.example", "10.0.0.1", "user@example.com", "-a.example"]) expect(domainOf(wrong)).toBeNull();
});

test("the proxy passes the host on to the port of the service", () => {
  expect(proxyConfig("caddy", "status.example.com", "https://app.example.com")).toContain("reverse_proxy 127.0.0.1:8080");
  const nginx = proxyConfig("nginx", "status.example.com", "http://10.0.0.5:9000");
  expect(nginx).toContain("proxy_pass http://10.0.0.5:9000;");
  expect(nginx).toContain("proxy_set_header Host $host;");
});
