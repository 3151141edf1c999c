/**
 * The values of the form, with the field names that the service uses in its
 * errors, and their conversion into a request. The fields of all types stay in
 * the form while it is open, so switching the type loses nothing.
 */
import { types, type Monitor, type SaveMonitor, type Type } from "../data";
import { LOCAL } from "../regions";

export interface Values {
  type: Type;
  name: string;
  isactive: boolean;
  heartbeat_interval: number;
  upside_down_mode: boolean;
  tags: string[];
  /** IDs. */
  notifiers: string[];
  regions: string[];
  quorum: string;
  hostname: string;
  port: string;
  timeout: number | "";
  retries: number | "";
  retry_interval: number | "";
  resend_interval: number | "";
  grace: number | "";
  "http.url": string;
  "http.method": string;
  "http.keyword": string;
  "http.accepted_status_codes": string;
  "http.headers": string;
  "http.body": string;
  "http.authentication_type": string;
  "http.username": string;
  "http.password": string;
  "http.max_redirects": number | "";
  "http.ignore_tls_error": boolean;
  "http.certificate_expiry_notification": boolean;
  "dns.resolver_server": string;
  "dns.record_type": string;
}

export const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
export const authentications = ["none", "basic", "ntlm"];
export const recordTypes = ["A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT"];

export function initial(type: Type): Values {
  return {
    type,
    name: "",
    isactive: true,
    heartbeat_interval: 60,
    upside_down_mode: false,
    tags: [],
    notifiers: [],
    regions: [LOCAL],
    quorum: "majority",
    hostname: "",
    port: "",
    timeout: "",
    retries: 1,
    retry_interval: "",
    resend_interval: "",
    grace: "",
    "http.url": "",
    "http.method": "GET",
    "http.keyword": "",
    "http.accepted_status_codes": "200-299",
    "http.headers": "",
    "http.body": "",
    "http.authentication_type": "none",
    "http.username": "",
    "http.password": "",
    "http.max_redirects": 10,
    "http.ignore_tls_error": false,
    "http.certificate_expiry_notification": true,
    "dns.resolver_server": "1.1.1.1",
    "dns.record_type": "A",
  };
}

export function typeOf(word: string | null): Type {
  return types.find((type) => type === word) ?? "http";
}

export function isHttp(type: Type): boolean {
  return type === "http" || type === "http_keyword";
}

export function valuesOf(monitor: Monitor): Values {
  const { http, dns } = monitor;
  return {
    ...initial(typeOf(monitor.type)),
    name: monitor.name,
    isactive: monitor.isactive,
    heartbeat_interval: monitor.heartbeat_interval,
    upside_down_mode: monitor.upside_down_mode,
    tags: monitor.tags,
    notifiers: monitor.notifiers.map(({ notifierid }) => notifierid),
    regions: monitor.regions,
    quorum: monitor.quorum,
    hostname: monitor.hostname ?? "",
    port: monitor.port ?? "",
    timeout: monitor.timeout ?? "",
    retries: monitor.retries,
    retry_interval: monitor.retry_interval ?? "",
    resend_interval: monitor.resend_interval === 0 ? "" : monitor.resend_interval,
    grace: monitor.grace ?? "",
    ...(http && {
      "http.url": http.url,
      "http.method": http.method,
      "http.keyword": http.keyword,
      "http.accepted_status_codes": http.accepted_status_codes.join(", "),
      "http.headers": http.headers,
      "http.body": http.body,
      "http.authentication_type": http.authentication_type.toLowerCase(),
      "http.username": http.username,
      "http.max_redirects": http.max_redirects,
      "http.ignore_tls_error": http.ignore_tls_error,
      "http.certificate_expiry_notification": http.certificate_expiry_notification,
    }),
    ...(dns && { "dns.resolver_server": dns.resolver_server, "dns.record_type": dns.record_type }),
  };
}

/** The request, with the fields of the chosen type; the service has defaults for empty numbers. */
export function bodyOf(values: Values, monitorid?: string): SaveMonitor {
  const body: SaveMonitor = {
    ...(monitorid !== undefined && { monitorid }),
    type: values.type,
    name: values.name.trim(),
    isactive: values.isactive,
    heartbeat_interval: values.heartbeat_interval,
    upside_down_mode: values.upside_down_mode,
    tags: values.tags,
    notifiers: values.notifiers,
    regions: values.regions,
    // With fewer regions than that, all of them.
    quorum: Number(values.quorum) > Math.max(1, values.regions.length) ? "all" : values.quorum,
    // 0 means the default, so that a value can be cleared.
    timeout: values.timeout === "" ? 0 : values.timeout,
    retry_interval: values.retry_interval === "" ? 0 : values.retry_interval,
    resend_interval: values.resend_interval === "" ? 0 : values.resend_interval,
    ...(values.retries !== "" && { retries: values.retries }),
  };
  if (isHttp(values.type)) return { ...body, http: httpOf(values) };
  switch (values.type) {
    case "api":
      return { ...body, ...(values.grace !== "" && { grace: values.grace }) };
    case "dns":
      return {
        ...body,
        hostname: values.hostname.trim(),
        ...(values.port !== "" && { port: values.port }),
        dns: { resolver_server: values["dns.resolver_server"].trim(), record_type: values["dns.record_type"] },
      };
    case "tcp":
      return { ...body, hostname: values.hostname.trim(), port: values.port };
    default:
      return { ...body, hostname: values.hostname.trim() };
  }
}

function httpOf(values: Values): NonNullable<SaveMonitor["http"]> {
  const authenticates = values["http.authentication_type"] !== "none";
  return {
    url: withScheme(values["http.url"]),
    method: values["http.method"],
    keyword: values["http.keyword"],
    accepted_status_codes: values["http.accepted_status_codes"],
    headers: values["http.headers"],
    body: values["http.body"],
    authentication_type: values["http.authentication_type"],
    ...(authenticates && { username: values["http.username"] }),
    // The service never returns passwords; an empty field leaves the stored one unchanged.
    ...(authenticates && values["http.password"] !== "" && { password: values["http.password"] }),
    max_redirects: values["http.max_redirects"] === "" ? 10 : values["http.max_redirects"],
    ignore_tls_error: values["http.ignore_tls_error"],
    certificate_expiry_notification: values["http.certificate_expiry_notification"],
  };
}

/** Adds https:// to a URL without a scheme. */
export function withScheme(url: string): string {
  const trimmed = url.trim();
  return trimmed === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
}

/** The host of a URL, or the URL itself if it is invalid. */
export function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

export function suggestedName(values: Values): string {
  if (isHttp(values.type)) return hostOf(withScheme(values["http.url"]));
  if (values.type === "tcp" && values.port !== "") return `${values.hostname}:${values.port}`;
  return values.hostname;
}
