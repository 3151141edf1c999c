/** Push messages in this browser: what it can do, and its subscription. */
import { queryOptions } from "@tanstack/react-query";
import { DELETE, GET, POST, unwrap } from "../../shared/api/client";
import type { components } from "../../shared/api/schema";

export type Browser = components["schemas"]["PushSubscription"];

/** Why this browser cannot receive push messages; null if it can. */
export type Obstacle = "insecure" | "unsupported" | "denied";

export function obstacle(): Obstacle | null {
  if (!window.isSecureContext) return "insecure";
  const isSupported = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  if (!isSupported) return "unsupported";
  return Notification.permission === "denied" ? "denied" : null;
}

/** Why subscribing failed, if the browser is the cause. */
export function failureOf(error: unknown): "denied" | "unreachable" | null {
  if (!(error instanceof DOMException)) return null;
  return error.name === "NotAllowedError" ? "denied" : "unreachable";
}

export interface PushState {
  /** The public key of the installation. */
  key: string;
  browsers: readonly Browser[];
  notifierid: string | null;
  /** The subscription of this browser, if the service knows it. */
  mine: string | null;
}

export const pushQuery = queryOptions({
  queryKey: ["webpush"],
  queryFn: async ({ signal }): Promise<PushState> => {
    const { key, subscriptions, notifierid } = await unwrap(GET("/api/v1/webpush/key", { signal }));
    const fingerprint = await ownFingerprint();
    const own = subscriptions.find((one) => one.fingerprint === fingerprint);
    return { key, browsers: subscriptions, notifierid: notifierid ?? null, mine: own?.subscriptionid ?? null };
  },
});

async function ownSubscription(): Promise<PushSubscription | null> {
  if (obstacle() !== null) return null;
  const registration = await navigator.serviceWorker.getRegistration();
  return (await registration?.pushManager.getSubscription()) ?? null;
}

async function ownFingerprint(): Promise<string | null> {
  const endpoint = (await ownSubscription())?.endpoint;
  if (endpoint === undefined) return null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Asks the user for permission and subscribes this browser; returns the notifier that sends to it. */
export async function turnOn(key: string): Promise<string> {
  await navigator.serviceWorker.register("/sw.js");
  const { pushManager } = await navigator.serviceWorker.ready;
  const options = { userVisibleOnly: true, applicationServerKey: key };
  const subscription = await pushManager.subscribe(options).catch(async (error: unknown) => {
    // It is subscribed with the key of an earlier installation at this address.
    const old = await pushManager.getSubscription();
    if (!old || !(error instanceof DOMException && error.name === "InvalidStateError")) throw error;
    await old.unsubscribe();
    return pushManager.subscribe(options);
  });
  const { endpoint = "", keys = {} } = subscription.toJSON();
  const body = { endpoint, keys: { p256dh: keys.p256dh ?? "", auth: keys.auth ?? "" } };
  const { notifierid } = await unwrap(POST("/api/v1/webpush/subscribe", { body }));
  return notifierid;
}

/** Removes a browser. If it is this one, it no longer asks its push service for messages either. */
export async function remove(subscriptionid: string, isMine: boolean): Promise<void> {
  await unwrap(DELETE("/api/v1/webpush/{subscriptionid}/delete", { params: { path: { subscriptionid } } }));
  if (isMine) await (await ownSubscription())?.unsubscribe();
}
