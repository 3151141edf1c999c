/** An incoming webhook of Slack. */
import { webhook } from "./webhook";

export const slack = webhook({ template: "slack", help: "slack", placeholder: "https://hooks.slack.com/services/T000/B000/XXXX" });
