/** A webhook in the Standard Webhooks format. */
import { webhook } from "./webhook";

export const standard = webhook({ template: "", help: "standard", signed: true });
