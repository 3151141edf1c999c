/** A card as it is typed. Nothing of it remains on the page once the form is closed. */
export interface CardValues {
  cardholderName: string;
  cardNumber: string;
  /** MM / YY, or with four digits for the year. */
  expiry: string;
  cvc: string;
  zipCode: string;
}

export const blank: CardValues = { cardholderName: "", cardNumber: "", expiry: "", cvc: "", zipCode: "" };

/** The digits in groups of four, as on the card; fifteen digits are grouped 4-6-5. */
export function grouped(text: string): string {
  const digits = text.replace(/\D/g, "").slice(0, 19);
  if (/^3[47]/.test(digits)) return [digits.slice(0, 4), digits.slice(4, 10), digits.slice(10, 15)].filter(Boolean).join(" ");
  return digits.replace(/(\d{4})(?=\d)/g, "$1 ");
}

export function expiryOf(text: string): { month: number; year: number } | null {
  const found = /^\s*(\d{1,2})\s*[/.-]?\s*(\d{4}|\d{2})\s*$/.exec(text);
  if (!found) return null;
  const [month, year] = [Number(found[1]), Number(found[2])];
  if (month < 1 || month > 12) return null;
  return { month, year: year < 100 ? 2000 + year : year };
}

/** A card is valid through the last day of its month. */
export function isExpired({ expiryMonth, expiryYear }: { expiryMonth: number; expiryYear: number }, now: Date): boolean {
  return expiryYear * 12 + expiryMonth < now.getUTCFullYear() * 12 + now.getUTCMonth() + 1;
}

/** Formats cents as currency; whole amounts without a fraction. */
export function money(cents: number, currency: string, locale: string): string {
  const digits = cents % 100 === 0 ? 0 : 2;
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const format = { style: "currency", currency, currencyDisplay: "narrowSymbol", ...fraction } as const;
  return new Intl.NumberFormat(locale, format).format(cents / 100);
}

/** A card as the API accepts it: its fields, or the processor's token for it. */
export type CardFields = ReturnType<typeof cardOf> | { token: string };

export function cardOf(values: CardValues) {
  const expiry = expiryOf(values.expiry);
  return {
    cardholderName: values.cardholderName.trim(),
    cardNumber: values.cardNumber,
    expiryMonth: expiry?.month ?? 0,
    expiryYear: expiry?.year ?? 0,
    // As text, which the API accepts too: a code may start with 0.
    cvc: values.cvc.trim() as unknown as number,
    zipCode: values.zipCode.trim(),
  };
}
