import { defineConfig } from "@playwright/test";
import base from "./playwright.config";

/** Pictures for the docs, made from the running page: `make screenshots`. */
export default defineConfig({ ...base, testDir: "screenshots", workers: 1 });
