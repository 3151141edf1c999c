/**
 * Registers the service worker (public/sw.js), with which the web app opens while the server is
 * away. Browsers have none on plain http, except for localhost; nothing depends on it.
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

/** Removes the worker and the files it has stored. */
export async function removeServiceWorker(): Promise<void> {
  if (!available) return;
  const registrations = await navigator.serviceWorker.getRegistrations();
  await Promise.all(registrations.map((registration) => registration.unregister()));
  for (const name of await caches.keys()) await caches.delete(name);
}
