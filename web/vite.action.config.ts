/**
 * Builds the page of an action link apart from the web app: it shares modules with it, but no files. A file that both
 * need would be a further request of the first screen, or would bring all of it to this page.
 */
import { defineConfig } from "vite";

export default defineConfig({
  publicDir: false,
  build: {
    target: "es2022",
    emptyOutDir: false,
    assetsInlineLimit: 0,
    cssMinify: true,
    modulePreload: { polyfill: false },
    manifest: ".vite/action.json",
    rolldownOptions: { input: "action.html" },
  },
});
