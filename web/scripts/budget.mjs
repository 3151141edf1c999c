// Adds up what the first screen loads and fails when it is too much: the entry
// with everything it imports at once, the largest of the views it may open, and
// the words of one language, whichever it is.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";

const limit = 220 * 1000;
const manifest = JSON.parse(readFileSync("dist/.vite/manifest.json", "utf8"));
const first = ["src/main.tsx", "src/features/monitors/list/page.tsx"];

function collect(key, seen) {
  const chunk = manifest[key];
  if (!chunk) throw new Error(`the manifest knows no ${key}`);
  if (seen.has(chunk.file)) return;
  seen.add(chunk.file);
  for (const css of chunk.css ?? []) seen.add(css);
  for (const other of chunk.imports ?? []) collect(other, seen);
}

const entry = Object.keys(manifest).find((key) => manifest[key].isEntry);
// What packing would only make larger is sent as it is.
const sent = (file) => (existsSync(`dist/${file}.gz`) ? `dist/${file}.gz` : `dist/${file}`);

/** Bytes of the first screen in one language. */
function screen(language) {
  const seen = new Set();
  for (const key of [entry, ...first.slice(1), `src/shared/i18n/${language}.ts`]) collect(key, seen);
  return { language, files: seen.size, size: [...seen].reduce((sum, file) => sum + statSync(sent(file)).size, 0) };
}

const screens = ["en", "de"].map(screen);
rmSync("dist/.vite", { recursive: true });
for (const { language, files, size } of screens) {
  console.log(`first screen, ${language}: ${(size / 1000).toFixed(1)} kB of ${limit / 1000} kB (gzip, ${files} files)`);
}
if (screens.some(({ size }) => size > limit)) {
  console.error("The first screen is over its budget.");
  process.exit(1);
}
