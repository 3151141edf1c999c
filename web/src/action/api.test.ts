import { expect, test } from "vitest";
import { failureOf } from "./api";

test("every refusal of the service has its own message", () => {
  expect(failureOf(404, { code: "not_found" })).toBe("invalid");
  expect(failureOf(409, { code: "alert_over" })).toBe("over");
  expect(failureOf(409, { code: "changed_meanwhile" })).toBe("changed");
  expect(failureOf(422, { code: "invalid_fields", errors: [{ field: "name" }] })).toBe("name");
  expect(failureOf(429, { code: "too_many_requests" })).toBe("tooMany");
  expect(failureOf(502, null)).toBe("failed");
});
