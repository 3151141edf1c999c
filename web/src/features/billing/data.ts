/** Plans, cards and invoices, as the API returns them. */
import { queryOptions, type QueryClient } from "@tanstack/react-query";
import { GET, POST, unwrap } from "../../shared/api/client";
import { ApiError } from "../../shared/api/error";
import { membershipQuery, type Plan } from "../../shared/api/membership";
import type { components } from "../../shared/api/schema";
import type { Texts } from "../../shared/i18n";
import type { CardFields } from "./card";

export type Method = components["schemas"]["MethodBody"];
export type Invoice = components["schemas"]["InvoiceBody"];

/** The name of a plan; the one that teams start with is called "None" in the API. */
export function planName({ planid, name }: Plan, t: Texts): string {
  return planid === "none" && name === "None" ? t.billing.freePlan : name;
}

export const plansQuery = queryOptions({
  queryKey: ["plans"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/membership/plans", { signal })).then((answer) => answer.plans),
  staleTime: Infinity,
});

export const paymentMethodsQuery = queryOptions({
  queryKey: ["paymentmethods"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/paymentmethods/get", { signal })).then((answer) => answer.paymentMethods),
});

export const invoicesQuery = queryOptions({
  queryKey: ["invoices"],
  queryFn: ({ signal }) => unwrap(GET("/api/v1/membership/invoices", { signal })).then((answer) => answer.invoices),
});

export type Quote = components["schemas"]["MembershipPreview"];

/** What subscribing to a plan would cost now; asked again whenever it is shown. */
export function quoteQuery(plan: string) {
  return queryOptions({
    queryKey: ["membership", "quote", plan],
    queryFn: ({ signal }) => unwrap(POST("/api/v1/membership/preview", { body: { plan }, signal })),
    staleTime: 0,
    gcTime: 0,
  });
}

/** After a payment, whether it succeeded or not, everything may have changed. */
function renew(client: QueryClient): Promise<unknown> {
  return Promise.all([membershipQuery, paymentMethodsQuery, invoicesQuery].map(({ queryKey }) => client.invalidateQueries({ queryKey })));
}

/** The form has one field for the month and year of the API; their errors go to that field. */
async function oneExpiry<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { expiryMonth, expiryYear, ...others } = error.fields as Partial<Record<string, string>>;
    const expiry = expiryMonth ?? expiryYear;
    const fields = { ...others, ...(expiry !== undefined && { expiry }) } as Record<string, string>;
    throw new ApiError(error.status, error.code, error.message, fields);
  }
}

export async function saveCard(client: QueryClient, card: CardFields): Promise<void> {
  // With a token, the other fields are not required.
  const body = card as components["schemas"]["SaveMethod"];
  await oneExpiry(unwrap(POST("/api/v1/paymentmethod/save", { body })));
  await renew(client);
}

/** Subscribes the team to a plan, paid with a saved card or a new one. */
export async function subscribe(client: QueryClient, plan: string, pay: { methodid: string } | CardFields): Promise<void> {
  const how = "methodid" in pay ? { method: "methodID", methodID: pay.methodid } : { method: "new", ...pay };
  try {
    await oneExpiry(unwrap(POST("/api/v1/membership/save", { body: { plan, ...how } })));
  } finally {
    await renew(client);
  }
}

export async function stop(client: QueryClient): Promise<void> {
  await unwrap(POST("/api/v1/membership/stop"));
  await renew(client);
}

/** When the paid period of the current plan ends. */
export function activeUntil(client: QueryClient): number | null {
  const until = client.getQueryData(membershipQuery.queryKey)?.membership.period_until;
  return until ? Date.parse(until) : null;
}

export async function makeDefault(client: QueryClient, { methodid }: Method): Promise<void> {
  await unwrap(POST("/api/v1/paymentmethod/default", { body: { methodid } }));
  await renew(client);
}

export async function removeCard(client: QueryClient, { methodid }: Method): Promise<void> {
  await unwrap(POST("/api/v1/paymentmethod/delete", { body: { methodid } }));
  await renew(client);
}
