/**
 * Whether the visitor has just set a new password by a link from a mail. It travels
 * with the history entry, from the reset form through the login to the first view.
 */
export const afterReset = { afterReset: true };

export function isAfterReset(state: unknown): boolean {
  return typeof state === "object" && state !== null && "afterReset" in state && state.afterReset === true;
}
