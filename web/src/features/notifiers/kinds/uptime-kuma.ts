/** A webhook in the format of Uptime Kuma. */
import { webhook } from "./webhook";

export const uptimeKuma = webhook({ template: "uptime_kuma", help: "uptime_kuma", signed: true });
