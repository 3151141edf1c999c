import { expect, test } from "vitest";
import type { Role } from "../shared/api/session";
import { isEveryoneOwner } from "./choose-roles";

const members = (...roles: Role[]) => roles.map((role) => ({ role }));

test("roles are still to be chosen if several people are all owners", () => {
  expect(isEveryoneOwner(members("owner", "owner"))).toBe(true);
  expect(isEveryoneOwner(members("owner", "owner", "viewer"))).toBe(false);
});

test("someone alone has no roles to choose", () => {
  expect(isEveryoneOwner(members("owner"))).toBe(false);
  expect(isEveryoneOwner([])).toBe(false);
});
