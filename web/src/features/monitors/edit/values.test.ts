import { describe, expect, test } from "vitest";
import { types, type Monitor, type Type } from "../data";
import { en } from "../../../shared/i18n/en";
import { bodyOf, check, initial, intervalAfter, labelsOf, probed, suggestedName, typeOf, valuesOf } from "./values";

const monitor: Monitor = {
  monitorid: "0190",
  type: "http",
  isactive: false,
  name: "site",
  description: "",
  http: {
    url: "https://example.com/",
    method: "POST",
    keyword: "ok",
    accepted_status_codes: ["200-299", "301"],
    headers: '{"X-A":"1"}',
    body: "x",
    authentication_type: "Basic",
    username: "ann",
    max_redirects: 0,
    ignore_tls_error: true,
    certificate_expiry_notification: false,
    ca: "",
    cache_buster: false,
    client_certificate: { subject: "CN=client", not_after: "2027-01-01T00:00:00Z", fingerprint: "00" },
    cookies: false,
    max_body: 1_048_576,
    proxy: "http://ann@proxy.example:3128",
    version: "auto",
  },
  ip_family: "both",
  resolver: "192.0.2.53",
  connect_to: "192.0.2.10",
  notifiers: [{ notifierid: "n1", name: "ops", type: "email" }],
  heartbeat_interval: 30,
  upside_down_mode: true,
  tags: ["a", "b"],
  status: "up",
  last_message: "",
  created: "",
  modified: "",
  retries: 0,
  revision: 1,
  timeout: 5,
  resend_interval: 3600,
  severity: "warning",
  regions: ["local"],
  quorum: "majority",
  depends_on: [{ monitorid: "0191", as: "path" }],
  dependents: 0,
  flap_outages: 4,
  flap_within: 3600,
  assertions: [{ source: "status", property: "", comparison: "equals", target: "200", fails_as: "down", match: "all", chart: false }],
  evidence: "head",
  health: "degraded",
  degraded: { slow: 500, factor: 0, over: 2, of: 4, regions: 1, notify: false },
  slo: { target: 99.95, days: 7, degraded: "down" },
};

describe("the form's values", () => {
  test("a monitor that is opened and saved unchanged stays the same", () => {
    const body = bodyOf(valuesOf(monitor), monitor.monitorid);
    expect(body).toMatchObject({
      monitorid: "0190",
      assertions: monitor.assertions,
      evidence: "head",
      degraded: monitor.degraded,
      slo: monitor.slo,
      type: "http",
      name: "site",
      isactive: false,
      heartbeat_interval: 30,
      upside_down_mode: true,
      tags: ["a", "b"],
      notifiers: ["n1"],
      retries: 0,
      timeout: 5,
      severity: "warning",
      regions: ["local"],
      quorum: "majority",
      depends_on: [{ monitorid: "0191", as: "path" }],
      flap_outages: 4,
      flap_within: 3600,
    });
    expect(body).toMatchObject({ ip_family: "both", resolver: "192.0.2.53", connect_to: "192.0.2.10" });
    // The certificate stays as it is.
    const shown = Object.fromEntries(Object.entries(monitor.http ?? {}).filter(([field]) => field !== "client_certificate"));
    expect(body.http).toEqual({
      ...shown,
      accepted_status_codes: "200-299, 301",
      authentication_type: "basic",
    });
  });

  test("an empty password is not sent, so the stored one remains", () => {
    expect(bodyOf(valuesOf(monitor)).http).not.toHaveProperty("password");
    const typed = { ...valuesOf(monitor), "http.password": "s3cret" };
    expect(bodyOf(typed).http).toHaveProperty("password", "s3cret");
    expect(bodyOf({ ...typed, "http.authentication_type": "none" }).http).not.toHaveProperty("password");
  });

  test("the options of a request are sent, and an emptied body limit returns to the default of the type", () => {
    const oauth2 = { token_url: "https://id.example/", client_id: "c", scope: "", audience: "api", client_auth: "post" as const };
    const options = { ca: "PEM", cookies: true, version: "2" as const, cache_buster: true, max_body: 2048 };
    const http = monitor.http && { ...monitor.http, ...options, authentication_type: "oauth2", oauth2 };
    const stored: Monitor = { ...monitor, http: http ?? null };
    expect(bodyOf(valuesOf(stored)).http).toMatchObject({ ...options, oauth2 });
    const limit = (type: "http" | "http_keyword") => bodyOf({ ...valuesOf(stored), type, "http.max_body": "" }).http?.max_body;
    expect([limit("http"), limit("http_keyword")]).toEqual([1_048_576, 10_485_760]);
    // The default of one type does not become the limit of another.
    expect(bodyOf({ ...valuesOf(monitor), type: "http_keyword" }).http?.max_body).toBe(10_485_760);
  });

  test("a client certificate is sent when it is typed or removed, for each type that has one", () => {
    const stored = { subject: "CN=client", not_after: "2027-01-01T00:00:00Z", fingerprint: "00" };
    const tls = {
      server_name: "",
      starttls: "none" as const,
      ignore_tls_error: false,
      certificate_expiry_notification: true,
      client_certificate: stored,
    };
    const values = valuesOf({ ...monitor, type: "tls", http: null, hostname: "mail.example", port: "443", tls });
    expect(values["tls.stored_certificate"]).toBe("CN=client");
    expect(bodyOf(values).tls).not.toHaveProperty("client_certificate");
    expect(bodyOf(values).tls).not.toHaveProperty("client_key");
    const typed = { ...values, "tls.client_certificate": " PEM\n", "tls.client_key": "KEY" };
    expect(bodyOf(typed).tls).toMatchObject({ client_certificate: "PEM", client_key: "KEY" });
    expect(bodyOf({ ...typed, "tls.removes_certificate": true }).tls).toMatchObject({ client_certificate: "" });
    expect(bodyOf({ ...valuesOf(monitor), "http.removes_certificate": true }).http).toMatchObject({ client_certificate: "" });
  });

  test("a new ping starts with five echoes and a condition, and a stored one keeps its own", () => {
    expect(bodyOf(initial("ping"))).toMatchObject({ ping: { count: 5 }, assertions: [{ source: "loss", target: "20" }] });
    const stored = { ...monitor, type: "ping" as const, http: null, ping: { count: 1, spacing: 200, size: 16 }, assertions: [] };
    expect(bodyOf(valuesOf(stored))).toMatchObject({ ping: { count: 1 }, assertions: [] });
  });

  test("each type sends its own settings and no others", () => {
    const filled = { hostname: " db.example.com ", port: "5432", "http.url": "https://x", grace: "7" };
    const own = {
      http: ["http"],
      http_keyword: ["http"],
      ping: ["hostname", "ping"],
      tcp: ["hostname", "port"],
      dns: ["hostname", "port", "dns"],
      tls: ["hostname", "port", "tls"],
      domain: ["hostname", "domain"],
      api: ["grace", "api"],
      group: ["group"],
    } satisfies Record<Type, string[]>;
    for (const type of types) {
      const keys = Object.keys(bodyOf({ ...initial(type), ...filled }));
      expect(keys.filter((key) => !(key in labelsOf(en)))).toEqual(own[type]);
    }
    expect(bodyOf({ ...initial("tcp"), ...filled }).hostname).toBe("db.example.com");
  });

  test("an emptied timeout returns to the default", () => {
    expect(bodyOf({ ...valuesOf(monitor), timeout: "" }).timeout).toBe(0);
    expect(bodyOf({ ...valuesOf(monitor), resend_interval: "" }).resend_interval).toBe(0);
  });

  test("a monitor without a name is named after its target", () => {
    expect(suggestedName({ ...initial("http"), "http.url": "https://example.com:8443/x" })).toBe("example.com:8443");
    expect(suggestedName({ ...initial("tcp"), hostname: "db", port: "5432" })).toBe("db:5432");
    expect(suggestedName({ ...initial("ping"), hostname: "10.0.0.1" })).toBe("10.0.0.1");
  });

  test("durations have units, and what is not a duration is refused", () => {
    const typed = { ...initial("http"), heartbeat_interval: "5m", timeout: "10", retry_interval: "soon" };
    expect(bodyOf(typed)).toMatchObject({ heartbeat_interval: 300, timeout: 10, resend_interval: 0 });
    expect(check(typed, en)).toEqual({ retry_interval: en.form.durationInvalid });
    expect(check(initial("http"), en)).toEqual({});
  });

  test("the interval of a new monitor follows its type until it is changed", () => {
    expect(bodyOf(initial("domain")).heartbeat_interval).toBe(86_400);
    const http = initial("http");
    const asDomain = intervalAfter(http, "domain");
    expect(bodyOf({ ...http, type: "domain", heartbeat_interval: asDomain }).heartbeat_interval).toBe(86_400);
    expect(intervalAfter({ type: "domain", heartbeat_interval: asDomain }, "http")).toBe(http.heartbeat_interval);
    expect(intervalAfter({ type: "http", heartbeat_interval: "5m" }, "domain")).toBe("5m");
  });

  test("the result of a check depends on the target, not on the name or the tags", () => {
    const before = bodyOf(valuesOf(monitor));
    expect(probed(bodyOf({ ...valuesOf(monitor), name: "other", tags: [], retries: 3 }))).toBe(probed(before));
    expect(probed(bodyOf({ ...valuesOf(monitor), "http.url": "https://example.org" }))).not.toBe(probed(before));
    const resolver = (address: string) => probed(bodyOf({ ...initial("dns"), "dns.resolver_server": address }));
    expect(resolver("9.9.9.9")).not.toBe(resolver("1.1.1.1"));
  });

  test("an unknown type in the URL is http", () => {
    expect(typeOf("gopher")).toBe("http");
    expect(typeOf("dns")).toBe("dns");
  });

  test("a quorum larger than the number of regions means all of them", () => {
    const quorum = (regions: string[], quorum: string) => bodyOf({ ...initial("http"), regions, quorum }).quorum;
    expect(quorum(["eu", "us", "ap"], "2")).toBe("2");
    expect(quorum(["eu", "us"], "3")).toBe("all");
    expect(quorum([], "any")).toBe("any");
  });
});
