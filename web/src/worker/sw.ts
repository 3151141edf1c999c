/**
 * The service worker. It opens the web app while the server is away: it keeps the document and
 * the files with a hash in their name, never a response of the API. The document always comes
 * from the server if it responds, so an update is never held back. The build replaces the
 * version, so every build has a cache of its own. It also shows push messages (push.ts).
 *
 * To retire the worker, replace this file by one whose `activate` deletes all caches and
 * calls `registration.unregister()`; browsers fetch this file again with every visit.
 */
import { acknowledge, notificationOf, open, parseMessage, renew, type SubscriptionChange } from "./push";

declare const self: ServiceWorkerGlobalScope;

const CACHE = "wakeful-__VERSION__";
const SHELL = "/";

self.addEventListener("install", (event) => {
  event.waitUntil(storeShell().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(deleteOtherCaches().then(() => self.clients.claim()));
});

self.addEventListener("message", (event) => {
  const { store } = (event.data ?? {}) as { store?: unknown };
  if (Array.isArray(store)) event.waitUntil(storeAssets(store as string[]));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (url.pathname.startsWith("/assets/")) event.respondWith(asset(request));
  else if (request.mode === "navigate" && !isOther(url.pathname)) event.respondWith(page(request));
});

self.addEventListener("push", (event) => {
  const { title, options } = notificationOf(parseMessage(event.data?.text()), self.navigator.language);
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener("notificationclick", (event) => {
  const { notification, action } = event;
  notification.close();
  event.waitUntil(action === "acknowledge" ? acknowledge(self, notification) : open(self, notification));
});

self.addEventListener("pushsubscriptionchange", (event) => {
  const change = event as unknown as SubscriptionChange;
  change.waitUntil(renew(self, change));
});

/** Documents that are not the web app: those of the API, and action links. */
function isOther(pathname: string): boolean {
  return pathname.startsWith("/api") || pathname.startsWith("/a/");
}

async function storeShell(): Promise<void> {
  const response = await fetch(SHELL, { cache: "no-cache", headers: { accept: "text/html" } });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  await (await caches.open(CACHE)).put(SHELL, response);
}

async function deleteOtherCaches(): Promise<void> {
  const others = (await caches.keys()).filter((name) => name !== CACHE);
  await Promise.all(others.map((name) => caches.delete(name)));
}

/** Stores files that are missing; one that the server no longer has is skipped. */
async function storeAssets(urls: readonly string[]): Promise<void> {
  const cache = await caches.open(CACHE);
  for (const url of urls) {
    if (!(await cache.match(url))) await cache.add(url).catch(() => {});
  }
}

/** The content of such a file never changes. */
async function asset(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const stored = await cache.match(request);
  if (stored) return stored;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}

/** The page from the server; the stored one only if the server or its proxy cannot give it. */
async function page(request: Request): Promise<Response> {
  const response = await fetch(request).catch(() => null);
  if (response && response.status < 500) return response;
  return (await caches.match(SHELL, { cacheName: CACHE })) ?? response ?? Response.error();
}
