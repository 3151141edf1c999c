#!/usr/bin/env python3
"""Builds a container image from a binary, as an OCI image layout.

    packaging/build-image.py BINARY LICENSES FOLDER [LIBRARY...]

The image starts from nothing: the binary, the licenses and an empty /data. It needs neither
a daemon nor a base image. The same input and SOURCE_DATE_EPOCH give the same bytes. FOLDER
must not exist; next to it, FOLDER.tar has the same layout in one file. Only tests add the
libraries of this system that a binary needs which is not static.
"""

import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

USER = 65532
BINARY = "usr/bin/wakeful"


def entry(name, epoch, mode, owner=0, size=0, kind=tarfile.REGTYPE):
    info = tarfile.TarInfo(name)
    info.mtime, info.mode, info.uid, info.gid = epoch, mode, owner, owner
    info.size, info.type = size, kind
    return info


def layer(binary, licenses, libraries, epoch):
    """The files of the image, as an uncompressed tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for folder in ["usr", "usr/bin", "usr/share", "usr/share/doc", "usr/share/doc/wakeful"]:
            tar.addfile(entry(folder, epoch, 0o755, kind=tarfile.DIRTYPE))
        # Only the user of the image may read the data.
        tar.addfile(entry("data", epoch, 0o700, owner=USER, kind=tarfile.DIRTYPE))
        for name, content, mode in [
            (BINARY, binary, 0o755),
            ("usr/share/doc/wakeful/THIRD-PARTY-LICENSES.txt", licenses, 0o644),
            *[(path.lstrip("/"), Path(path).read_bytes(), 0o755) for path in libraries],
        ]:
            tar.addfile(entry(name, epoch, mode, size=len(content)), io.BytesIO(content))
    return out.getvalue()


def config(version, commit, created, diff_id):
    labels = {
        "org.opencontainers.image.title": "Wakeful",
        "org.opencontainers.image.description": "Uptime monitoring with a web app and an API",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.revision": commit,
        "org.opencontainers.image.licenses": "AGPL-3.0-or-later",
    }
    return {
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            # SQLite sorts in files when it changes the schema of a large database, and only /data is writable.
            "Env": ["PATH=/usr/bin", "WAKEFUL_DATA=/data", "WAKEFUL_LISTEN=0.0.0.0:8080", "SQLITE_TMPDIR=/data"],
            "Entrypoint": [f"/{BINARY}"],
            "Cmd": ["serve"],
            "ExposedPorts": {"8080/tcp": {}},
            "Volumes": {"/data": {}},
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            # Read by Docker and Podman; the OCI specification has no health checks. In nanoseconds.
            "Healthcheck": {
                "Test": ["CMD", f"/{BINARY}", "healthcheck"],
                "Interval": 30_000_000_000,
                "Timeout": 5_000_000_000,
                "StartPeriod": 30_000_000_000,
                "Retries": 3,
            },
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [diff_id]},
        "history": [{"created": created, "created_by": "packaging/build-image.py"}],
    }


class Layout:
    def __init__(self, folder):
        self.folder = Path(folder)
        (self.folder / "blobs/sha256").mkdir(parents=True)

    def add(self, content, media_type):
        """Stores a blob; returns its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        (self.folder / "blobs/sha256" / digest).write_bytes(content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def add_json(self, value, media_type):
        return self.add(json.dumps(value, separators=(",", ":")).encode(), media_type)

    def write(self, name, value):
        (self.folder / name).write_text(json.dumps(value, separators=(",", ":")))

    def archive(self, epoch):
        with tarfile.open(f"{self.folder}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for path in sorted(self.folder.rglob("*")):
                name = str(path.relative_to(self.folder))
                if path.is_dir():
                    tar.addfile(entry(name, epoch, 0o755, kind=tarfile.DIRTYPE))
                else:
                    content = path.read_bytes()
                    tar.addfile(entry(name, epoch, 0o644, size=len(content)), io.BytesIO(content))


def main():
    if len(sys.argv) < 4:
        sys.exit("build-image: usage: packaging/build-image.py BINARY LICENSES FOLDER [LIBRARY...]")
    binary, licenses = (Path(path).read_bytes() for path in sys.argv[1:3])
    libraries = sys.argv[4:]
    if b"ld-linux" in binary[:4096] and not libraries:
        sys.exit("build-image: the binary is not static, so it cannot run without the libraries of a system")
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or sys.exit("build-image: set SOURCE_DATE_EPOCH"))
    manifest = (Path(__file__).parent.parent / "Cargo.toml").read_text()
    version = re.search(r'^version = "(.*)"', manifest, re.MULTILINE)[1]
    commit = os.environ.get("SOURCE_COMMIT", "")
    created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    files = layer(binary, licenses, libraries, epoch)
    layout = Layout(sys.argv[3])
    # As for packaging/build-deb: tests do not wait for the compression.
    level = 0 if os.environ.get("PACKAGE_COMPRESSION") == "none" else 9
    packed = layout.add(gzip.compress(files, level, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")
    diff_id = f"sha256:{hashlib.sha256(files).hexdigest()}"
    image = config(version, commit, created, diff_id)
    described = layout.add_json(image, "application/vnd.oci.image.config.v1+json")
    manifest_type = "application/vnd.oci.image.manifest.v1+json"
    content = {"schemaVersion": 2, "mediaType": manifest_type, "config": described, "layers": [packed]}
    index = layout.add_json(content, manifest_type)
    index["annotations"] = {"org.opencontainers.image.ref.name": version}
    index["platform"] = {"architecture": "amd64", "os": "linux"}
    media_type = "application/vnd.oci.image.index.v1+json"
    layout.write("index.json", {"schemaVersion": 2, "mediaType": media_type, "manifests": [index]})
    layout.write("oci-layout", {"imageLayoutVersion": "1.0.0"})
    layout.archive(epoch)
    print(f"{sys.argv[3]}.tar")


main()
