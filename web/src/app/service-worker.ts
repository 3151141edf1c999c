/**
 * Registers the service worker (src/worker/sw.ts), with which the web app opens while the server is
 * away, and which shows push messages. Browsers have none on plain http, except for localhost; nothing depends on it.
 */

const available = "serviceWorker" in navigator && import.meta.env.PROD;

/** Files that this page has loaded, which are in the browser's cache: storing them loads nothing. */
function storeAssets(loaded = performance.getEntriesByType("resource")) {
  const store = loaded.map(({ name }) => name).filter((name) => name.startsWith(`${window.location.origin}/assets/`));
  if (store.length > 0) navigator.serviceWorker.controller?.postMessage({ store });
}

export function registerServiceWorker(): void {
  if (!available) return;
  // The worker did not see the files that were requested before it was in control.
  navigator.serviceWorker.addEventListener("controllerchange", () => storeAssets());
  new PerformanceObserver((list) => storeAssets(list.getEntries())).observe({ type: "resource" });
  window.addEventListener("load", () => {
    // Without a service worker, the web app works as usual.
    navigator.serviceWorker.register("/sw.js").then(
      () => storeAssets(),
      () => {},
    );
  });
}

/** Removes the files that the worker has stored, and the worker itself unless it receives push messages. */
export async function removeServiceWorker(): Promise<void> {
  if (!available) return;
  const registrations = await navigator.serviceWorker.getRegistrations();
  const remove = async (registration: ServiceWorkerRegistration) => {
    const receives = "PushManager" in window && (await registration.pushManager.getSubscription());
    await (receives ? registration.update() : registration.unregister());
  };
  await Promise.all(registrations.map(remove));
  for (const name of await caches.keys()) await caches.delete(name);
}
