// In addition to the usual rules: imports point one way only, shared → features → app,
// and features do not import each other.
import js from "@eslint/js";
import hooks from "eslint-plugin-react-hooks";
import { readdirSync } from "node:fs";
import tseslint from "typescript-eslint";

const features = readdirSync(new URL("src/features", import.meta.url));

const forbid = (group, message) => ({
  "no-restricted-imports": ["error", { patterns: [{ group, message }] }],
});

export default tseslint.config(
  { ignores: ["dist", "node_modules", "src/shared/api/schema.d.ts"] },
  js.configs.recommended,
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: { projectService: { allowDefaultProject: ["eslint.config.js", "scripts/*.mjs"] } },
      globals: { console: "readonly", process: "readonly", URL: "readonly" },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": "off",
      "@typescript-eslint/no-misused-promises": ["error", { checksVoidReturn: false }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
    },
  },
  // A Playwright fixture is set up because a test names it, whether the test uses it or not.
  { files: ["e2e/**"], rules: { "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }] } },
  { files: ["**/*.{js,mjs}"], extends: [tseslint.configs.disableTypeChecked] },
  { files: ["src/**/*.{ts,tsx}"], extends: [hooks.configs.flat.recommended] },
  {
    files: ["src/shared/**"],
    rules: forbid(["**/features/**", "**/app/**"], "shared must not import features or the app"),
  },
  ...features.map((name) => ({
    files: [`src/features/${name}/**`],
    rules: forbid(
      ["**/app/**", ...features.filter((other) => other !== name).map((other) => `**/${other}/**`)],
      "features must not import each other or the app",
    ),
  })),
);
