"""Gives one monitor 45 minutes of heartbeats, one per minute, with one outage.

Writes into the SQLite file of a running service, since a test cannot wait for it.
The checks of ten to six minutes ago failed.
Usage: outage.py DATABASE NAME
"""

import os
import sqlite3
import sys
import time

MINUTE = 60_000
db = sqlite3.connect(sys.argv[1], timeout=30)
monitor, team = db.execute("select id, team_id from monitors where name = ?", [sys.argv[2]]).fetchone()
now = int(time.time() * 1000)


def beat(minutes):
    failed = 6 < minutes <= 10
    seen = ("down", "503 Service Unavailable", None) if failed else ("up", "200 OK", 20_000 + 100 * minutes)
    return monitor, now - minutes * MINUTE, 0, *seen


with db:
    db.executemany(
        "insert into heartbeats (monitor_id, at, seq, status, message, load_time) values (?, ?, ?, ?, ?, ?)",
        [beat(minutes) for minutes in range(45, 0, -1)],
    )
    begin = now - 10 * MINUTE
    identity = begin.to_bytes(6, "big") + b"\x70" + os.urandom(1) + b"\x80" + os.urandom(7)
    db.execute(
        "insert into alerts (id, team_id, monitor_id, kind, cause, started, ended) values (?, ?, ?, 'outage', ?, ?, ?)",
        [identity, team, monitor, "503 Service Unavailable", begin, now - 6 * MINUTE],
    )
