/**
 * Registers the service worker (public/sw.js), with which the web app opens while the server is
 * away. Browsers have none on plain http, except for localhost; nothing depends on it.
 */

const available = "serviceWorker" in navigator && import.meta.env.PROD;

/** The files that this page has loaded. They are in the browser's cache, so storing them loads nothing. */
function loadedAssets(): string[] {
  const assets = performance.getEntriesByType("resource").map(({ name }) => name);
  return assets.filter((name) => name.startsWith(`${window.location.origin}/assets/`));
}

/** The files that were loaded before the worker was in control, which it did not see. */
function storeAssets() {
  navigator.serviceWorker.controller?.postMessage({ store: loadedAssets() });
}

export function registerServiceWorker(): void {
  if (!available) return;
  navigator.serviceWorker.addEventListener("controllerchange", storeAssets);
  window.addEventListener("load", () => {
    // Without a service worker, the web app works as usual.
    navigator.serviceWorker.register("/sw.js").then(storeAssets, () => {});
  });
}

/** Removes the worker and the files it has stored. */
export async function removeServiceWorker(): Promise<void> {
  if (!available) return;
  const registrations = await navigator.serviceWorker.getRegistrations();
  await Promise.all(registrations.map((registration) => registration.unregister()));
  for (const name of await caches.keys()) await caches.delete(name);
}
