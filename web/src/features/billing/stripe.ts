/**
 * Stripe's own fields. Its script is loaded when a card is about to be typed,
 * from Stripe and from nowhere else, as Stripe asks; what is typed into its
 * frame never passes through this page or the service, which get an id.
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
    // Whoever opens the form again tries again.
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

/** The id that stands for the card at Stripe. */
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
 * Whether this document was opened at this very address. Only that of the
 * billing view may load Stripe's script; the content policy of a document
 * stays as it was when it was opened, whatever is shown in it since.
 */
export function isOpenedHere(opened: string | undefined, here: string): boolean {
  return opened !== undefined && new URL(opened).pathname === here;
}

export function openedAt(): string | undefined {
  return performance.getEntriesByType("navigation")[0]?.name;
}
