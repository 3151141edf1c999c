import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const service = process.env.SERVICE_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react()],
  build: {
    target: "es2022",
    // A data: URI in CSS would require a wider content security policy for fonts.
    assetsInlineLimit: 0,
    cssMinify: true,
    manifest: true,
  },
  server: { proxy: { "/api": service } },
  test: { include: ["src/**/*.test.{ts,tsx}"] },
});
