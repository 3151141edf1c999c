/** A webhook of a Discord channel. */
import { webhook } from "./webhook";

export const discord = webhook({ template: "discord", help: "discord", placeholder: "https://discord.com/api/webhooks/0000/XXXX" });
