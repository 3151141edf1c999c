/** Domains as people write them, and the configuration that brings them to the service. */

/** The name without what people paste with it; null if it is not one. */
export function domainOf(text: string): string | null {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, "")
    .replace(/[/:].*$/, "")
    .replace(/\.$/, "");
  const isValid = name.length <= 253 && /^(?!-)[^\s.@_]{1,63}(\.[^\s.@_]{1,63})+$/.test(name) && !/^[\d.]+$/.test(name);
  return isValid ? name : null;
}

export type Proxy = "caddy" | "nginx";
export const proxies: readonly (readonly [Proxy, string])[] = [
  ["caddy", "Caddy"],
  ["nginx", "nginx"],
];

/** `app` is the address of the web app, which the proxy already serves. */
export function proxyConfig(proxy: Proxy, domain: string, app: string): string {
  const { protocol, host, hostname, port } = new URL(app);
  // Behind a proxy, the service listens on its usual port.
  const upstream = protocol === "https:" ? "127.0.0.1:8080" : port === "" ? `${hostname}:80` : host;
  if (proxy === "caddy") return `${domain} {\n    reverse_proxy ${upstream}\n}`;
  return [
    "server {",
    "    listen 443 ssl;",
    `    server_name ${domain};`,
    `    ssl_certificate /etc/letsencrypt/live/${domain}/fullchain.pem;`,
    `    ssl_certificate_key /etc/letsencrypt/live/${domain}/privkey.pem;`,
    "    location / {",
    `        proxy_pass http://${upstream};`,
    "        proxy_set_header Host $host;",
    "        proxy_set_header X-Forwarded-For $remote_addr;",
    "        proxy_set_header X-Forwarded-Proto https;",
    "    }",
    "}",
  ].join("\n");
}
