// Gives the service worker the version of this build: a hash of its document, which names
// the hashed files that it starts with.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const worker = "dist/sw.js";
const placeholder = "__VERSION__";
const source = readFileSync(worker, "utf8");
if (!source.includes(placeholder)) throw new Error(`${worker} has no ${placeholder}`);
const version = createHash("sha256").update(readFileSync("dist/index.html")).digest("hex").slice(0, 16);
writeFileSync(worker, source.replace(placeholder, version));
