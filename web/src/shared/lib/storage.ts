/** The browser's storage, which some browsers and in-app views do not give access to; nothing depends on it. */

export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The choice lasts until the page is closed.
  }
}
