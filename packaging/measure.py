#!/usr/bin/env python3
"""Prints the table of sizes and start times in docs/install.md: packaging/measure.py [DIST]

Run it on an idle machine, after `make release`. The start time is that from the command to the
first 200 of /readyz, the median of five.
"""

import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

RUNS = 5
MAX_WAIT = 60


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def is_ready(address):
    try:
        with urllib.request.urlopen(f"http://{address}/readyz", timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, ConnectionError):
        return False


def start(binary, data, *options):
    """Starts and stops the service; returns the seconds until it was ready, and its memory in MiB."""
    address = f"127.0.0.1:{free_port()}"
    began = time.monotonic()
    command = [binary, "serve", "--data", data, "--listen", address, *options]
    service = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not is_ready(address):
            if service.poll() is not None or time.monotonic() - began > MAX_WAIT:
                sys.exit("measure: the service did not start")
            time.sleep(0.001)
        seconds = time.monotonic() - began
        status = Path(f"/proc/{service.pid}/status").read_text()
        return seconds, int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
    finally:
        service.terminate()
        service.wait()


def median(runs):
    return [statistics.median(column) for column in zip(*runs)]


def main():
    dist = Path(sys.argv[1] if len(sys.argv) > 1 else "dist")
    binary = dist / "wakeful"
    image = next(dist.glob("wakeful-*-oci.tar"))
    for name, path in [
        ("static binary", binary),
        ("Debian package", next(dist.glob("*.deb"))),
        ("container image, compressed", image),
    ]:
        print(f"| {name} | {path.stat().st_size / 1e6:.1f} MB |")
    with tempfile.TemporaryDirectory() as folder:
        data = [f"{folder}/{number}" for number in range(RUNS)]
        new, memory = median([start(binary, each) for each in data])
        existing, _ = median([start(binary, each) for each in data])
        demo, _ = median([start(binary, f"{each}-demo", "--demo") for each in data])
    print(f"| start with a new data folder | {new:.2f} s |")
    print(f"| start with an existing data folder | {existing:.2f} s |")
    print(f"| start of the demo, with a new data folder | {demo:.1f} s |")
    print(f"| memory after the start, with a new data folder | {memory:.0f} MiB |")


main()
