/**
 * Stripe's own card fields. The script is loaded when the form opens, and only
 * from Stripe, as Stripe requires. Card details typed into its frame never reach
 * this page or the service, which only get an ID.
 */
import { ApiError, Offline } from "../../shared/api/error";

const SCRIPT = "https://js.stripe.com/v3/";

export interface CardElement {
  mount: (place: HTMLElement) => void;
  destroy: () => void;
  on: (event: "change", handle: (change: { error?: { message: string } }) => void) => void;
}

interface Made {
  paymentMethod?: { id: string };
  error?: { message?: string };
}

export interface Stripe {
  elements: () => { create: (kind: "card", options: object) => CardElement };
  createPaymentMethod: (wanted: { type: "card"; card: CardElement; billing_details: { name: string } }) => Promise<Made>;
}

declare global {
  interface Window {
    Stripe?: (publishableKey: string) => Stripe;
  }
}

let loading: Promise<Stripe> | undefined;

export function loadStripe(publishableKey: string): Promise<Stripe> {
  loading ??= load(publishableKey).catch((error: unknown) => {
    // Opening the form again tries again.
    loading = undefined;
    throw error;
  });
  return loading;
}

function load(publishableKey: string): Promise<Stripe> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = SCRIPT;
    script.addEventListener("load", () => (window.Stripe ? resolve(window.Stripe(publishableKey)) : reject(new Offline())));
    script.addEventListener("error", () => {
      script.remove();
      reject(new Offline());
    });
    document.head.append(script);
  });
}

/** Stripe's ID for the card. */
export async function tokenOf(
  { createPaymentMethod }: Pick<Stripe, "createPaymentMethod">,
  card: CardElement,
  name: string,
): Promise<string> {
  const { paymentMethod, error } = await createPaymentMethod({ type: "card", card, billing_details: { name } });
  if (!paymentMethod) throw new ApiError(402, "card_refused", error?.message ?? "");
  return paymentMethod.id;
}

/**
 * Whether the document was loaded at this path. Only the billing page's content
 * security policy allows Stripe's script, and the policy of a document does not
 * change when the app navigates.
 */
export function isOpenedHere(opened: string | undefined, here: string): boolean {
  return opened !== undefined && new URL(opened).pathname === here;
}

export function openedAt(): string | undefined {
  return performance.getEntriesByType("navigation")[0]?.name;
}
