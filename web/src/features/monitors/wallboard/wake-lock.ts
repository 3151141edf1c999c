/** Prevents the screen from turning off while the wallboard is visible, if the browser permits it. */
import { useEffect } from "react";

export function useWakeLock() {
  useEffect(() => {
    let lock: WakeLockSentinel | undefined;
    let left = false;
    const request = async () => {
      if (document.hidden || !("wakeLock" in navigator)) return;
      // Refused on battery saving, for example; the board works without it.
      lock = await navigator.wakeLock.request("screen").catch(() => undefined);
      if (left) void lock?.release();
    };
    void request();
    // The browser releases it when the tab is hidden.
    const again = () => void request();
    document.addEventListener("visibilitychange", again);
    return () => {
      left = true;
      document.removeEventListener("visibilitychange", again);
      void lock?.release();
    };
  }, []);
}
