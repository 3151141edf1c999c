/** An Events API v2 integration of PagerDuty. */
import { webhook } from "./webhook";

export const pagerduty = webhook({
  template: "pagerduty",
  help: "pagerduty",
  placeholder: "https://events.pagerduty.com/v2/enqueue?routing_key=<key>",
});
