"""Reads cases as lines of JSON and prints the next times of each, by cronsim or oncalendar."""

import json
import sys
from datetime import datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from oncalendar import OnCalendar, OnCalendarError

for line in sys.stdin:
    kind, text, zone, after, count = json.loads(line)
    start = datetime.fromtimestamp(after, ZoneInfo(zone))
    times = []
    try:
        found = CronSim(text, start) if kind == "cron" else OnCalendar(text, start)
        for at in found:
            times.append(int(at.timestamp()))
            if len(times) == count:
                break
    except (CronSimError, OnCalendarError):
        times = None
    print(json.dumps(times), flush=True)
