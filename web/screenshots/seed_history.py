"""Gives every monitor of a running service a history, for the screenshots of the docs.

Writes thirty days of invented heartbeats into the SQLite file: realistic response
times with a daily rhythm and occasional outages.
Usage: seed_history.py DATABASE NAME=MILLISECONDS ...
"""

import json
import math
import random
import sqlite3
import sys
import time

DAY = 86_400_000
random.seed(11)
db = sqlite3.connect(sys.argv[1], timeout=30)
now = int(time.time() * 1000)


def outages():
    """Start and end of up to two outages of 15 to 70 minutes."""
    begins = [random.randrange(now - 30 * DAY, now - DAY // 8) for _ in range(random.choice([0, 1, 1, 2]))]
    return [(begin, begin + random.randrange(15, 70) * 60_000) for begin in begins]


def phases(total):
    shares = {"resolve": 0.06, "connect": 0.12, "tls": 0.2, "first_byte": 0.5, "transfer": 0.12}
    return {name: int(total * share * random.uniform(0.8, 1.2)) for name, share in shares.items()}


def alert(monitor, team, begin, end):
    identity = begin.to_bytes(6, "big") + b"\x70" + random.randbytes(1) + b"\x80" + random.randbytes(7)
    return identity, team, monitor, "outage", "503 Service Unavailable", begin, end


def past(monitor, usual, down):
    # Up to the checks that the service has made itself.
    for at in range(now - 30 * DAY, now - 90_000, 60_000):
        if any(begin <= at < end for begin, end in down):
            yield monitor, at, 0, "down", "503 Service Unavailable", None, None
            continue
        rhythm = 1 + 0.25 * math.sin(at / DAY * 2 * math.pi)
        spent = phases(int(usual * 1000 * rhythm * random.lognormvariate(0, 0.25)))
        yield monitor, at, 0, "up", "200 OK", sum(spent.values()), json.dumps(spent)


with db:
    for pair in sys.argv[2:]:
        name, usual = pair.rsplit("=", 1)
        monitor, team = db.execute("select id, team_id from monitors where name = ?", [name]).fetchone()
        down = outages()
        db.executemany(
            "insert into alerts (id, team_id, monitor_id, kind, cause, started, ended) values (?, ?, ?, ?, ?, ?, ?)",
            [alert(monitor, team, begin, end) for begin, end in down],
        )
        db.executemany(
            "insert into heartbeats (monitor_id, at, seq, status, message, load_time, phases) values (?, ?, ?, ?, ?, ?, ?)",
            past(monitor, int(usual), down),
        )
