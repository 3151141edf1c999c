/** A request as a command line, without its credentials. */

interface Request {
  method: string;
  url: string;
  headers: string[][];
}

/** Headers that curl sends anyway, or that would hide the response from people. */
const leftOut = new Set(["host", "accept-encoding", "connection", "content-length"]);

export function curlOf({ method, url, headers }: Request): string {
  const shown = headers.filter(([name = "", value = ""]) => !leftOut.has(name) && !value.includes("[redacted]"));
  const parts = [
    // Brackets and braces in a URL are not patterns, and the response to HEAD has no body to wait for.
    method === "HEAD" ? "curl -g -I" : "curl -g -i",
    ...(method === "GET" || method === "HEAD" ? [] : [`-X ${method}`]),
    ...shown.map((pair) => `-H ${quote(pair.join(": "))}`),
    quote(url),
  ];
  return parts.join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
