"""Makes the sessions of a user stale: they last entered their password an hour ago.

Writes into the SQLite file of a running service, since a test cannot wait for it.
Usage: stale_sessions.py DATABASE EMAIL
"""

import sqlite3
import sys

HOUR = 3_600_000
db = sqlite3.connect(sys.argv[1], timeout=30)
with db:
    changed = db.execute(
        "update sessions set reauthenticated_at = created - ? where user_id = (select id from users where email = ?)",
        [HOUR, sys.argv[2]],
    )
assert changed.rowcount > 0
