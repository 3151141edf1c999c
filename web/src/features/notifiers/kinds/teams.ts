/** A workflow or connector of Microsoft Teams. */
import { webhook } from "./webhook";

export const teams = webhook({ template: "teams", help: "teams", placeholder: "https://example.webhook.office.com/webhookb2/XXXX" });
