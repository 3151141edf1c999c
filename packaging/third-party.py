#!/usr/bin/env python3
"""Lists the libraries in the release binary: an SBOM, and their licenses.

    packaging/third-party.py FOLDER

Writes wakeful-VERSION.cdx.json (CycloneDX 1.5) and THIRD-PARTY-LICENSES.txt to FOLDER. The
libraries are those that cargo resolves for the binary, without those that only tests or build
scripts need, the npm packages that the web app ships, according to package-lock.json, and what
the compiler links statically: Rust's standard library, LLVM's libunwind and musl.
Requires web/node_modules, the Rust target, and musl-tools for the license of musl.
"""

import json
import os
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = "x86_64-unknown-linux-musl"
LICENSE_FILES = ("license", "licence", "copying", "notice", "copyright", "unlicense")
MUSL_LICENSE = Path("/usr/share/doc/musl-dev/copyright")


class Component:
    def __init__(self, kind, name, version, license, folder, digest=None):
        self.kind, self.name, self.version, self.license = kind, name, version, license
        self.folder, self.digest = Path(folder), digest

    @property
    def purl(self):
        return f"pkg:{self.kind}/{self.name.replace('@', '%40')}@{self.version}"

    def texts(self):
        """The license files of the library, in order."""
        if not self.folder.is_dir():
            sys.exit(f"third-party: {self.folder} is missing: run `make web` first")
        files = sorted(path for path in self.folder.iterdir() if path.is_file())
        named = [path for path in files if path.name.lower().startswith(LICENSE_FILES)]
        return [path.read_text(encoding="utf-8", errors="replace").strip() for path in named if path.suffix not in (".rs", ".py")]

    def cyclonedx(self):
        entry = {"type": "library", "bom-ref": self.purl, "name": self.name, "version": self.version}
        entry |= {"licenses": [{"expression": self.license}], "purl": self.purl}
        if self.digest:
            entry["hashes"] = [self.digest]
        return entry


class Runtime(Component):
    """What the compiler links statically, without a package that cargo knows."""

    def __init__(self, name, version, license, texts):
        super().__init__("generic", name, version, license, "")
        self.found = texts

    def texts(self):
        return self.found


class PlainText(HTMLParser):
    """The text of a page, without blank lines in a row."""

    def __init__(self, page):
        super().__init__()
        self.parts = []
        self.feed(page)

    def handle_data(self, data):
        self.parts.append(data)

    def __str__(self):
        return re.sub(r"\n\s*\n", "\n\n", "".join(self.parts)).strip()


def rustc(*arguments):
    return subprocess.run(["rustc", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def read(path, missing):
    if not path.is_file():
        sys.exit(f"third-party: {path} is missing: {missing}")
    return path.read_bytes()


def runtimes():
    sysroot = Path(rustc("--print", "sysroot"))
    about = dict(line.split(": ", 1) for line in rustc("-vV").splitlines() if ": " in line)

    def notices(*names):
        documents = [sysroot / "share/doc/rust" / name for name in names]
        return [read(path, "install Rust with rustup").decode().strip() for path in documents]

    libc = sysroot / "lib/rustlib" / TARGET / "lib/self-contained/libc.a"
    versions = set(re.findall(rb"[^\d.](1\.\d+\.\d+)\0", read(libc, f"run `rustup target add {TARGET}`")))
    if len(versions) != 1:
        sys.exit(f"third-party: {libc} does not name one version of musl: {versions}")
    apache, mit, exception = "licenses/Apache-2.0.txt", "licenses/MIT.txt", "licenses/LLVM-exception.txt"
    parts = str(PlainText(*notices("COPYRIGHT-library.html")))
    llvm = "Apache-2.0 WITH LLVM-exception"
    return [
        Runtime("rust-std", about["release"], "MIT OR Apache-2.0", [parts, *notices(apache, mit)]),
        Runtime("llvm-libunwind", about["LLVM version"], llvm, notices(apache, exception)),
        Runtime("musl", versions.pop().decode(), "MIT", [read(MUSL_LICENSE, "install musl-tools").decode().strip()]),
    ]


def metadata():
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={TARGET}"]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def checksums():
    """The SHA-256 sums in Cargo.lock, by name and version."""
    found, entry = {}, {}
    for line in (ROOT / "Cargo.lock").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(" = ")
        entry = {} if line == "[[package]]" else entry | {key: value.strip('"')}
        if key == "checksum":
            found[entry["name"], entry["version"]] = entry["checksum"]
    return found


def crates():
    """The crates that are linked into the binary, and its version."""
    data, sums = metadata(), checksums()
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    root = next(package for package in data["packages"] if package["name"] == "wakeful")
    seen, waiting = set(), [root["id"]]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    components = []
    for package in (packages[id] for id in seen):
        # Our own crates have no source.
        if package["source"] is None:
            continue
        digest = {"alg": "SHA-256", "content": sums[package["name"], package["version"]]}
        folder = Path(package["manifest_path"]).parent
        license = package["license"].replace("/", " OR ")
        components.append(Component("cargo", package["name"], package["version"], license, folder, digest))
    return root["version"], components


def npm_packages():
    lock = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))
    for path, package in lock["packages"].items():
        # The dev dependencies build and test the web app; they are not part of it.
        if path and not package.get("dev") and not package.get("optional"):
            name = path.rpartition("node_modules/")[2]
            yield Component("npm", name, package["version"], package["license"], ROOT / "web" / path)


def sbom(version, components, epoch):
    created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    main = f"pkg:generic/wakeful@{version}"
    commit = os.environ.get("SOURCE_COMMIT", "")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{main}#{commit}')}",
        "version": 1,
        "metadata": {
            "timestamp": created,
            "component": {
                "type": "application",
                "bom-ref": main,
                "name": "wakeful",
                "version": version,
                "licenses": [{"expression": "AGPL-3.0-or-later"}],
                "purl": main,
            },
        },
        "components": [component.cyclonedx() for component in components],
        "dependencies": [{"ref": main, "dependsOn": [component.purl for component in components]}],
    }


def licenses(components):
    """Each text once, with the libraries that it applies to."""
    by_text, without = {}, []
    for component in components:
        found = component.texts()
        if not found:
            without.append(component)
        for text in found:
            by_text.setdefault(text, []).append(component)
    label = lambda component: f"{component.name} {component.version} ({component.license})"
    lines = ["Libraries that are part of Wakeful, with their licenses.", ""]
    lines += [f"  {label(component)}" for component in components]
    if without:
        lines += ["", "These name their license, but come without its text:", ""]
        lines += [f"  {label(component)}" for component in without]
    for text, users in by_text.items():
        lines += ["", "=" * 80, *(label(component) for component in users), "-" * 80, "", text]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2:
        sys.exit("third-party: usage: packaging/third-party.py FOLDER")
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or sys.exit("third-party: set SOURCE_DATE_EPOCH"))
    version, components = crates()
    components.extend(npm_packages())
    components.extend(runtimes())
    components.sort(key=lambda component: (component.kind, component.name, component.version))
    for component in components:
        if not component.license:
            sys.exit(f"third-party: {component.name} names no license")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    bom = json.dumps(sbom(version, components, epoch), indent=1) + "\n"
    (folder / f"wakeful-{version}.cdx.json").write_text(bom, encoding="utf-8")
    (folder / "THIRD-PARTY-LICENSES.txt").write_text(licenses(components), encoding="utf-8")


main()
