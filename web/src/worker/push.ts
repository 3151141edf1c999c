/**
 * Push messages: shows them as notifications, and acts when the user clicks on one. A message
 * replaces the notification with the same tag, so the end of an outage replaces its beginning.
 */

/** What the service sends; see `message` in `notify/webpush` of wakeful-outbound. */
export interface PushMessage {
  title: string;
  body: string;
  /** The alert. */
  tag: string;
  /** Its page. */
  url: string;
  silent: boolean;
  /** Whether it stays until the user reacts. */
  urgent: boolean;
  /** Where an action on the alert is posted to, while there is anything to do. */
  action?: string;
}

/** What a notification remembers. */
interface Remembered {
  url?: string;
  action?: string;
}

/** Those that the types of TypeScript lack, because not every browser has them. */
export interface ShownOptions extends NotificationOptions {
  renotify?: boolean;
  actions?: { action: string; title: string }[];
}

/** An event that the types of TypeScript lack. */
export interface SubscriptionChange extends ExtendableEvent {
  readonly oldSubscription: PushSubscription | null;
  readonly newSubscription?: PushSubscription | null;
}

const texts = {
  en: {
    acknowledge: "Acknowledge",
    unreadable: "Open Wakeful to see what has happened.",
    failed: "Acknowledging failed. Click to open the alert.",
  },
  de: {
    acknowledge: "Bestätigen",
    unreadable: "Öffnen Sie Wakeful, um zu sehen, was passiert ist.",
    failed: "Bestätigen fehlgeschlagen. Klicken Sie, um den Alarm zu öffnen.",
  },
};

export const textsIn = (language: string) => texts[/^de\b/i.test(language) ? "de" : "en"];

export function parseMessage(text: string | undefined): PushMessage | null {
  try {
    const parsed = JSON.parse(text ?? "") as Partial<PushMessage> | null;
    const { title, body, tag, url } = parsed ?? {};
    const isComplete = [title, body, tag, url].every((part) => typeof part === "string");
    return isComplete ? (parsed as PushMessage) : null;
  } catch {
    return null;
  }
}

/** Browsers require a notification for every message, also for one that cannot be read. */
export function notificationOf(message: PushMessage | null, language: string): { title: string; options: ShownOptions } {
  const t = textsIn(language);
  if (!message) return { title: "Wakeful", options: { body: t.unreadable, icon: "/favicon.svg" } };
  const { title, body, tag, url, silent, urgent, action } = message;
  const data: Remembered = { url, ...(action !== undefined && { action }) };
  const options: ShownOptions = {
    body,
    tag,
    data,
    icon: "/favicon.svg",
    silent,
    // Otherwise a message that replaces another would make no sound.
    renotify: !silent,
    requireInteraction: urgent,
    ...(action !== undefined && { actions: [{ action: "acknowledge", title: t.acknowledge }] }),
  };
  return { title, options };
}

/** The path of a URL of the service: only this server is ever called or opened. */
export function pathOf(url: string | undefined): string {
  try {
    return new URL(url ?? "").pathname;
  } catch {
    return "/";
  }
}

/** Acknowledges the alert of a notification; the service then sends a message that replaces it. */
export async function acknowledge(self: ServiceWorkerGlobalScope, notification: Notification): Promise<void> {
  const { url, action } = (notification.data ?? {}) as Remembered;
  const path = pathOf(action);
  if (!path.startsWith("/api/action/")) return open(self, notification);
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ action: "acknowledge" });
  const response = await fetch(path, { method: "POST", headers, body, credentials: "omit" }).catch(() => null);
  // An alert that is over needs no acknowledgement.
  if (response?.ok || response?.status === 409) return;
  const { failed } = textsIn(self.navigator.language);
  await self.registration.showNotification(notification.title, { body: failed, tag: notification.tag, data: { url } });
}

/** Opens the page of the alert, in the tab that shows it already if there is one. */
export async function open(self: ServiceWorkerGlobalScope, notification: Notification): Promise<void> {
  const path = pathOf((notification.data as Remembered | null)?.url);
  const tabs = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const tab = tabs.find(({ url }) => pathOf(url) === path);
  await (tab ? tab.focus() : self.clients.openWindow(path));
}

/** The push service has replaced the address of this browser. Without a session, the user subscribes again. */
export async function renew(self: ServiceWorkerGlobalScope, { oldSubscription, newSubscription }: SubscriptionChange): Promise<void> {
  const options = oldSubscription?.options;
  const renewed = newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
  if (!renewed) return;
  const headers = { "Content-Type": "application/json", "X-Wakeful-Page": "1" };
  await fetch("/api/v1/webpush/subscribe", { method: "POST", headers, body: JSON.stringify(renewed) });
}
