"""Copies one monitor many times, straight in the SQLite file of a running service.

Made over the API, ten thousand monitors would take longer than all other tests.
Usage: multiply.py DATABASE NAME COUNT
"""

import sqlite3
import sys

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
db = sqlite3.connect(path, timeout=30)
columns = [row[1] for row in db.execute("pragma table_info(monitors)")]
row = dict(zip(columns, db.execute("select * from monitors where name = ?", [name]).fetchone()))


def copy(number):
    named = f"service {number:05}"
    new = {
        "id": row["id"][:6] + b"\x70\x00\x80\x00" + number.to_bytes(6, "big"),
        "name": named,
        "search": row["search"].replace(name, named),
        "tags": f'["group-{number % 20}"]',
    }
    return [new.get(column, row[column]) for column in columns]


with db:
    marks = ", ".join("?" * len(columns))
    db.executemany(f"insert into monitors values ({marks})", map(copy, range(count)))
