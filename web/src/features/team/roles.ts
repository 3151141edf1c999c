import type { Role } from "../../shared/api/session";

/** The roles of people, highest first. */
export const ROLES: readonly Role[] = ["owner", "admin", "editor", "responder", "viewer", "billing"];

/** Viewers and responders can be limited to some monitors. */
export function mayHaveFilter(role: Role): boolean {
  return role === "viewer" || role === "responder";
}
