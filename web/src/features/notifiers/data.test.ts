import { expect, test } from "vitest";
import source from "../../../../crates/wakeful-engine/src/notifications/notifiers.rs?raw";
import type { Notifier } from "../../shared/api/notifiers";
import { de } from "../../shared/i18n/de";
import { offReason } from "./data";

test("the service's own reason for a notifier that is off is translated, a receiver's is not", () => {
  const reason = "turned off by its team";
  expect(source).toContain(`"${reason}"`);
  expect(offReason({ disabled_reason: reason } as Notifier, de)).toBe(de.notifiers.offByTeam);
  expect(offReason({ disabled_reason: "410 Gone" } as Notifier, de)).toBe("410 Gone");
});
