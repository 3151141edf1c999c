import { defineConfig } from "@playwright/test";
import base from "./playwright.config";

/** Screenshots for the docs, taken from the running app: `make screenshots`. */
export default defineConfig({ ...base, testDir: "screenshots", workers: 1 });
