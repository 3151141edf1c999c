// Adds up what the first screen loads and fails when it is too much: the entry
// with everything it imports at once, and the largest of the views it may open.
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
const seen = new Set();
for (const key of [entry, ...first.slice(1)]) collect(key, seen);
// What packing would only make larger is sent as it is.
const sent = (file) => (existsSync(`dist/${file}.gz`) ? `dist/${file}.gz` : `dist/${file}`);
const size = [...seen].reduce((sum, file) => sum + statSync(sent(file)).size, 0);
rmSync("dist/.vite", { recursive: true });
console.log(`first screen: ${(size / 1000).toFixed(1)} kB of ${limit / 1000} kB (gzip, ${seen.size} files)`);
if (size > limit) {
  console.error("The first screen is over its budget.");
  process.exit(1);
}
