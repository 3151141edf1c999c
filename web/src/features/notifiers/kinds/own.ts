/** A webhook with a custom template. */
import { webhook } from "./webhook";

export const own = webhook({ help: "own", signed: true });
