import type { Role } from "../../shared/api/session";

/** Nobody assigns a role above their own, or changes what belongs to one; only owners manage payments. */
export function mayAssign(own: Role, other: Role): boolean {
  return own === "owner" || (own === "admin" && other !== "owner" && other !== "billing");
}
