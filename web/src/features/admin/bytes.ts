/** `1.5 MB`, in the units that storage is sold in. */
export function bytes(count: number, locale: string): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
  const step = Math.min(units.length - 1, count > 0 ? Math.floor(Math.log10(count) / 3) : 0);
  const style = { style: "unit", unit: units[step], unitDisplay: step === 0 ? "long" : "short", maximumFractionDigits: 1 } as const;
  return (count / 1000 ** step).toLocaleString(locale, style);
}
