import { expect, test } from "vitest";
import rust from "../../../../../crates/wakeful-core/src/alerting/step.rs?raw";
import suppression from "../../../../../crates/wakeful-core/src/alerting/suppression.rs?raw";
import { noteOf } from "./notes";

test("what somebody wrote is a comment, and a name ends the sentence", () => {
  expect(noteOf({ kind: "acknowledged", text: "on it" })).toEqual({ sentence: "acknowledged", object: "", comment: "on it" });
  expect(noteOf({ kind: "assigned", text: "Bob" })).toEqual({ sentence: "assigned", object: "Bob", comment: "" });
  expect(noteOf({ kind: "severity", text: "info" })).toEqual({ sentence: "severity", object: "info", comment: "" });
});

test("the sentences of the service are recognized", () => {
  expect(noteOf({ kind: "acknowledged", text: "as the outage before" }).sentence).toBe("asBefore");
  expect(noteOf({ kind: "released", text: "maintenance Backups is over" }).object).toBe("Backups");
  expect(noteOf({ kind: "paused", text: "maintenance Backups" }).object).toBe("Backups");
  expect(noteOf({ kind: "not_sent", text: "to 100 notifiers: too many messages are waiting" }).object).toBe("100");
  expect(noteOf({ kind: "suppressed", text: "dependency router" }).object).toBe("router");
  for (const sentence of ['"as the outage before"', '"{} is over"']) expect(rust).toContain(sentence);
  expect(suppression).toContain('format!("{} {}", self.reason.as_str(), self.name)');
});
