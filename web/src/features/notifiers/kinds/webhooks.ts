/** The webhooks: those with a built-in template of a service are no longer offered, but can be edited and converted. */
import { webhook } from "./webhook";

export const webhooks = {
  standard: webhook({ template: "", help: "standard", signed: true }),
  slack_webhook: webhook({ template: "slack", help: "slack", placeholder: "https://hooks.slack.com/services/T000/B000/XXXX" }),
  discord_webhook: webhook({ template: "discord", help: "discord", placeholder: "https://discord.com/api/webhooks/<id>/<token>" }),
  teams_webhook: webhook({ template: "teams", help: "teams", placeholder: "https://example.webhook.office.com/webhookb2/XXXX" }),
  telegram_webhook: webhook({
    template: "telegram",
    help: "telegram",
    placeholder: "https://api.telegram.org/bot<token>/sendMessage?chat_id=<chat>",
  }),
  ntfy_webhook: webhook({ template: "ntfy", help: "ntfy", placeholder: "https://ntfy.sh/<topic>" }),
  pagerduty_webhook: webhook({
    template: "pagerduty",
    help: "pagerduty",
    placeholder: "https://events.pagerduty.com/v2/enqueue?routing_key=<key>",
  }),
  uptime_kuma: webhook({ template: "uptime_kuma", help: "uptime_kuma", signed: true }),
  own: webhook({ help: "own", signed: true }),
};
