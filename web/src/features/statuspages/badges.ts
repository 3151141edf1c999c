/** The lines that put a badge, a frame or a banner of a page into another document. */
import type { Statuspage } from "../../shared/api/statuspages";

export type BadgeKind = "status" | "uptime/30d" | "uptime/90d" | "response/30d" | "certificate";
export const badgeStyles = ["flat", "flat-square", "plastic", "for-the-badge"] as const;
export type BadgeStyle = (typeof badgeStyles)[number];
export const formats = ["markdown", "html", "url"] as const;
export type BadgeFormat = (typeof formats)[number];

/** What the page shows; the others would be gray. */
export function badgeKinds({ display }: Pick<Statuspage, "display">, isComponent: boolean): BadgeKind[] {
  const kinds: BadgeKind[] = ["status", "uptime/30d", "uptime/90d"];
  if (isComponent && display.response_times) kinds.push("response/30d");
  if (isComponent && display.certificates) kinds.push("certificate");
  return kinds;
}

export function badgeUrl(base: string, component: string | undefined, kind: BadgeKind, style: BadgeStyle): string {
  const path = component === undefined ? "badge" : `component/${component}/badge`;
  return `${base}/${path}/${kind}.svg${style === "flat" ? "" : `?style=${style}`}`;
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

export function badgeLine(format: BadgeFormat, badge: string, page: string, about: string): string {
  if (format === "url") return badge;
  if (format === "markdown") return `[![${about.replaceAll(/[[\]\\]/g, "")}](${badge})](${page})`;
  return `<a href="${escaped(page)}"><img src="${escaped(badge)}" alt="${escaped(about)}"></a>`;
}

export function frameLine(page: string, about: string, component?: string): string {
  const query = component === undefined ? "" : `?component=${component}`;
  return `<iframe src="${escaped(page)}/embed${query}" title="${escaped(about)}" width="320" height="80" loading="lazy"></iframe>`;
}

export function scriptLine(page: string): string {
  return `<div><script src="${escaped(page)}/embed.js" async></script></div>`;
}
