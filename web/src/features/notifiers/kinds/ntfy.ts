/** A topic of ntfy. */
import { webhook } from "./webhook";

export const ntfy = webhook({ template: "ntfy", help: "ntfy", placeholder: "https://ntfy.sh/<topic>" });
