/** Shows its children only to users with the permission: what the service would refuse is not offered. */
import type { ReactNode } from "react";
import { useMay, type Permission } from "../api/session";

export function May({ do: permission, children }: { do: Permission; children: ReactNode }) {
  return useMay(permission) && children;
}
