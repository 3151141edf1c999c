import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const service = process.env.SERVICE_URL ?? "http://127.0.0.1:8080";

/**
 * Moves the styles behind the logo in index.html: a browser paints what precedes them without
 * waiting for them, and runs the scripts only once it has them.
 */
const stylesLast: Plugin = {
  name: "styles-last",
  enforce: "post",
  transformIndexHtml: {
    order: "post",
    handler(html) {
      const styles = html.match(/ *<link rel="stylesheet"[^>]*>\n/g) ?? [];
      return styles.reduce((page, link) => page.replace(link, ""), html).replace("</svg>\n", `</svg>\n${styles.join("")}`);
    },
  },
};

/**
 * Drops the imports in Mantine's modules that import no name. They have no effect, but each would count as a
 * dependency of the first screen.
 */
const namedImportsOnly: Plugin = {
  name: "named-imports-only",
  apply: "build",
  transform(code, id) {
    if (!id.includes("/@mantine/core/esm/")) return null;
    return { code: code.replace(/^import '[^']+';$/gm, ""), map: null };
  },
};

/**
 * The entry, the dashboard and all they import are one file: as several, they would be compressed less well,
 * and each would cost a request with its headers.
 */
const firstScreen = { name: "first-screen", test: /src\/(main|features\/monitors\/list\/page)\.tsx$/ };

/**
 * Menus, dialogs and badges, which most pages have, are one file, and so is what several of them need for maintenance: the first
 * screen lists the name of every file, with a hash that cannot be compressed.
 */
const menus = { name: "menus", test: /src\/shared\/ui\/(action-menu|badge|confirm|dialog|expandable-text|until-dialog)\.tsx$/ };
const maintenance = {
  name: "maintenance",
  test: /src\/(shared\/(api\/(maintenances|limited)|lib\/zone)|features\/monitors\/planned)\.ts$/,
};

/** The fields and lists that alerts, maintenance, on-call pages and forms share. */
const alerting = {
  name: "alerting",
  test: /src\/shared\/(api\/(alerting-sets|policies|schedules)|lib\/(hours|moved|selector)|ui\/(calendar-feed|duration-input|fields|hours-field|link-tabs|rows|selector-fields|sortable-list|timeline|toggles|zone-field))\./,
};

/** What the pages of alerts and of a monitor share. */
const evidence = {
  name: "evidence",
  test: /src\/features\/monitors\/(alerts\/(cause|data|evidence|labels|rows|view)|check-result|detail\/expiry)\./,
};

/** Drops the colors of Mantine that no component of ours has: each has about thirty variables. */
const usedColors = {
  postcssPlugin: "used-colors",
  Declaration(declaration: { prop: string; remove: () => void }) {
    if (/^--mantine-color-(pink|grape|violet|indigo|cyan|teal|green|lime|yellow|orange)-/.test(declaration.prop)) declaration.remove();
  },
};

/** The page of an action link is a document of its own; see vite.action.config.ts. */
const actionPage: Plugin = {
  name: "action-page",
  configureServer({ middlewares }) {
    middlewares.use((request, _, next) => {
      if (request.url?.startsWith("/a/")) request.url = "/action.html";
      next();
    });
  },
};

export default defineConfig({
  plugins: [react(), stylesLast, namedImportsOnly, actionPage],
  css: { postcss: { plugins: [usedColors] } },
  build: {
    target: "es2022",
    // A data: URI in CSS would require a wider content security policy for fonts.
    assetsInlineLimit: 0,
    cssMinify: true,
    // All supported browsers preload modules. Without the polyfill, the entry is no file of its own.
    modulePreload: { polyfill: false },
    manifest: true,
    // The first screen is a file of its own, and scripts/budget.mjs limits its size.
    chunkSizeWarningLimit: 600,
    rolldownOptions: { output: { codeSplitting: { groups: [firstScreen, menus, maintenance, alerting, evidence] } } },
  },
  server: { proxy: { "/api": service } },
  test: { include: ["src/**/*.test.{ts,tsx}"] },
});
