"""Copies one monitor many times in the SQLite file of a running service.

Creating ten thousand monitors over the API would take longer than all other tests.
IDs and response times are random, so that responses compress no better than real ones.
Usage: multiply.py DATABASE NAME COUNT
"""

import os
import random
import sqlite3
import sys

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
db = sqlite3.connect(path, timeout=30)
columns = [row[1] for row in db.execute("pragma table_info(monitors)")]
row = dict(zip(columns, db.execute("select * from monitors where name = ?", [name]).fetchone()))


def uuid7():
    chance = bytearray(os.urandom(10))
    chance[0] = 0x70 | chance[0] & 0x0F
    chance[2] = 0x80 | chance[2] & 0x3F
    return row["id"][:6] + bytes(chance)


def copy(number):
    named = f"service {number:05}"
    new = {
        "id": uuid7(),
        "name": named,
        "search": row["search"].replace(name, named),
        "tags": f'["group-{number % 20}"]',
    }
    return [new.get(column, row[column]) for column in columns]


def state(monitor):
    checked = row["created"] + random.randrange(60_000)
    return monitor, "up", row["created"], checked, "200 OK", random.randrange(1_000, 900_000)


with db:
    marks = ", ".join("?" * len(columns))
    copies = [copy(number) for number in range(count)]
    db.executemany(f"insert into monitors values ({marks})", copies)
    db.executemany(
        "insert into monitor_states (monitor_id, status, since, last_check, last_message, load_time) values (?, ?, ?, ?, ?, ?)",
        [state(one[columns.index("id")]) for one in copies],
    )
