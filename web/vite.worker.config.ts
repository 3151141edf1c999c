/** Builds the service worker: one file at a path that never changes, because browsers look for updates there. */
import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  build: {
    target: "es2022",
    emptyOutDir: false,
    lib: { entry: "src/worker/sw.ts", formats: ["iife"], name: "worker", fileName: () => "sw.js" },
  },
});
