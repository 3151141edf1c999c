// Adds up the files of the first screen and fails if they exceed the budget: the
// entry, which includes the dashboard, and its texts in one language. The page of an
// action link has a budget of its own, for everything that it loads.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";

const limit = 115 * 1000;
const actionLimit = 40 * 1000;
const [app, action] = ["manifest", "action"].map((name) => JSON.parse(readFileSync(`dist/.vite/${name}.json`, "utf8")));

function collect(key, seen, manifest = app) {
  const chunk = manifest[key];
  if (!chunk) throw new Error(`${key} is not in the manifest`);
  if (seen.has(chunk.file)) return;
  seen.add(chunk.file);
  for (const css of chunk.css ?? []) seen.add(css);
  for (const other of chunk.imports ?? []) collect(other, seen, manifest);
}

const entry = Object.keys(app).find((key) => /^_first-screen.*js$/.test(key));
if (!entry) throw new Error("the entry and the dashboard are not one file");
// Files that compression would make larger are sent uncompressed.
const sent = (file) => (existsSync(`dist/${file}.br`) ? `dist/${file}.br` : `dist/${file}`);

/** Bytes of the first screen in one language. */
function screen(language) {
  const seen = new Set();
  for (const key of [entry, `src/shared/i18n/first.${language}.ts`]) collect(key, seen);
  return { language, files: seen.size, size: [...seen].reduce((sum, file) => sum + statSync(sent(file)).size, 0) };
}

/** Bytes of the page of an action link: its document, script, styles and logo. */
function actionPage() {
  const seen = new Set(["action.html", "favicon.svg"]);
  collect("action.html", seen, action);
  return [...seen].reduce((sum, file) => sum + statSync(sent(file)).size, 0);
}

const screens = ["en", "de"].map(screen);
const actionSize = actionPage();
rmSync("dist/.vite", { recursive: true });
for (const { language, files, size } of screens) {
  console.log(`first screen, ${language}: ${(size / 1000).toFixed(1)} kB of ${limit / 1000} kB (Brotli, ${files} files)`);
}
console.log(`action link: ${(actionSize / 1000).toFixed(1)} kB of ${actionLimit / 1000} kB (Brotli)`);
if (actionSize > actionLimit) {
  console.error("The page of an action link is over its budget.");
  process.exit(1);
}
if (screens.some(({ size }) => size > limit)) {
  console.error("The first screen is over its budget.");
  process.exit(1);
}
