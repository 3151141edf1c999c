#!/usr/bin/env python3
"""Reads the stored history of Wakeful without Wakeful.

  decode-block.py heartbeats FILE    every heartbeat in a copy of wakeful.db
  decode-block.py hours FILE         roll-ups of hours; also: days, fortnights
  decode-block.py hex                rows in hexadecimal from standard input:
                                     block DATA [PHASES|-] [REGIONS|-] [READINGS|-]
                                     rollup DATA

Prints one JSON object per line (with hex, one array for each row). Times are
milliseconds since 1970 in UTC, durations are microseconds. Damaged rows are
reported and skipped; the exit status is then 1.

Needs Python 3.8 or later and nothing else. Written from docs/block-format.md;
the numbers in comments are its sections.
"""

import argparse
import json
import sqlite3
import sys
import uuid
import zlib
from bisect import bisect_right
from pathlib import Path

STATUSES = ["up", "down", "unknown", "degraded"]
COUNTS_AS = ["up", "down", "pending", "unknown", "maintenance", "degraded"]
USUAL_STATUS = [0, 1, 1, 2, 2, 3]
DEGRADED = 5
PHASES = ["resolve", "connect", "tls", "first_byte", "transfer"]
FIRST_BYTE = 3
GRAINS = {"hours": 1, "days": 2, "fortnights": 3}
U64 = (1 << 64) - 1


class Damaged(Exception):
    """The bytes are not what was written."""


# 2. Conventions


def i64(value):
    """Wraps around."""
    value &= U64
    return value - (1 << 64) if value >> 63 else value


def trunc_div(value, by):
    return -(-value // by) if value < 0 else value // by


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


def duration(steps, unit):
    return min(steps * unit, U64)


def counts_as(number):
    return number if number < len(COUNTS_AS) else 3


# 3. Envelope


def payload(row, versions=(1,)):
    """The bytes without their checksum, the version still in front."""
    body, checksum = row[:-4], row[-4:]
    if len(row) < 5 or zlib.crc32(body) != int.from_bytes(checksum, "little"):
        raise Damaged("the checksum does not match")
    if body[0] not in versions:
        raise Damaged(f"version {body[0]} is unknown")
    return body


# 4. Range decoder


class RangeDecoder:
    def __init__(self, row):
        self.bytes = payload(row)
        self.at = 1
        self.range = 0xFFFFFFFF
        self.code = 0
        for _ in range(4):
            self.code = self.code << 8 | self.next()

    def next(self):
        at = self.at
        self.at = at + 1
        return self.bytes[at] if at < len(self.bytes) else 0

    def normalize(self):
        while self.range < 1 << 24:
            self.range <<= 8
            self.code = (self.code << 8 | self.next()) & 0xFFFFFFFF

    def decide(self, models, index):
        model = models[index]
        if model is None:
            model = models[index] = [32768, 0]
        chance, seen = model
        bound = (self.range >> 16) * min(max(chance, 64), 65472)
        if self.code < bound:
            self.range = bound
            model[0] = chance + (65535 - chance) // (seen + 2)
            bit = 1
        else:
            self.code -= bound
            self.range -= bound
            model[0] = chance - chance // (seen + 2)
            bit = 0
        if seen < 120:
            model[1] = seen + 1
        if self.range < 1 << 24:
            self.normalize()
        return bit

    def plain(self, count):
        value = 0
        while count > 0:
            take = min(count, 16)
            count -= take
            self.range >>= take
            part = min(self.code // self.range, (1 << take) - 1)
            self.code -= part * self.range
            value = value << take | part
            self.normalize()
        return value

    def tree(self, models, bits):
        node = 1
        for _ in range(bits):
            node = 2 * node + self.decide(models, node)
        return node - (1 << bits)


# 5. Models. A decision model is [chance, seen], created when first needed.


class Decision:
    def __init__(self, coder):
        self.coder, self.models = coder, [None]

    def read(self):
        return self.coder.decide(self.models, 0)


class Tree:
    def __init__(self, coder, bits):
        self.coder, self.bits, self.models = coder, bits, [None] * (1 << bits)

    def read(self):
        return self.coder.tree(self.models, self.bits)


class Number:
    def __init__(self, coder, fine):
        self.coder, self.fine = coder, fine
        self.length = Tree(coder, 7)
        self.leading = {}

    def read(self):
        length = min(self.length.read(), 64)
        if length < 2:
            return length
        behind = length - 1
        learned = min(behind, self.fine)
        models = self.leading.setdefault(length, [None] * (1 << self.fine))
        top = self.coder.tree(models, learned)
        low = self.coder.plain(behind - learned)
        return (1 << behind) + (top << (behind - learned)) + low

    def signed(self):
        return unzigzag(self.read())


class Text:
    def __init__(self, coder):
        self.coder = coder
        self.same, self.was_same = [None, None], 1
        self.which, self.shared, self.length = (Number(coder, 3) for _ in range(3))
        self.next_bytes = {}
        self.known, self.last = [b""], 0

    def read(self):
        self.was_same = self.coder.decide(self.same, self.was_same)
        if not self.was_same:
            place = self.which.read()
            if place > len(self.known):
                raise Damaged("a text refers to one that does not exist")
            if place > 0:
                self.last = len(self.known) - place
            else:
                self.learn()
        try:
            return self.known[self.last].decode()
        except UnicodeDecodeError:
            raise Damaged("a text is not UTF-8") from None

    def learn(self):
        text = bytearray(self.known[self.last][: self.shared.read()])
        length = self.length.read()
        if length > 1 << 24:
            raise Damaged("a text is too long")
        for _ in range(length):
            models = self.next_bytes.setdefault(text[-1] if text else 0, [None] * 256)
            text.append(self.coder.tree(models, 8))
        self.known.append(bytes(text))
        self.last = len(self.known) - 1


# 6 to 8. Blocks


def read_data(row, trace):
    coder = RangeDecoder(row)

    def note(field, value):
        trace(f"{field} = {value}", coder)
        return value

    header = Number(coder, 0)
    unit = note("unit", header.read()) or 1
    count = note("count", header.read())
    if count > 1 << 24:
        raise Damaged("there are too many heartbeats")
    standing = [Tree(coder, 3) for _ in COUNTS_AS]
    status = Tree(coder, 2)
    same_interval, intervals = Decision(coder), Number(coder, 2)
    timed = [Decision(coder) for _ in COUNTS_AS]
    load_times = [Number(coder, 6), Number(coder, 6)]
    offsets, seqs, messages = Number(coder, 3), Number(coder, 2), Text(coder)
    counted, interval, expected, seq = 0, 0, 0, 0
    heartbeats = []
    for _ in range(count):
        counted = counts_as(note("counts as", standing[counted].read()))
        symbol = note("status", status.read())
        usual = USUAL_STATUS[counted]
        status_number = usual if symbol == 3 else 3 if symbol == usual else symbol
        if not note("same interval", same_interval.read()):
            interval = min(note("interval", intervals.read()), 0xFFFFFFFF)
        load_time = None
        if note("has a load time", timed[counted].read()):
            steps = note("load time", load_times[0 if counted in (0, DEGRADED) else 1].read())
            load_time = duration(steps, unit)
        offset = note("time", offsets.signed())
        began = i64(expected + offset)
        base = i64(expected + trunc_div(offset, 8)) if abs(offset) < 1000 else began
        expected = i64(base + 1000 * interval)
        seq = i64(seq + 1 + note("seq", seqs.signed()))
        message = note("message", messages.read())
        heartbeats.append(
            {
                "at": i64(began + (load_time or 0) // 1000),
                "seq": seq,
                "counts_as": COUNTS_AS[counted],
                "status": STATUSES[status_number],
                "interval": interval,
                "message": message,
                "load_time": load_time,
                "phases": {},
                "regions": [],
            }
        )
    return heartbeats


def read_phases(row, heartbeats):
    coder = RangeDecoder(row)
    unit = Number(coder, 0).read() or 1
    mask = Tree(coder, 5)
    phases = [Number(coder, 6) for _ in PHASES]
    rest = Number(coder, 4)
    for heartbeat in heartbeats:
        measured = mask.read()
        steps = {}
        for phase in (0, 1, 2, 4):
            if measured >> phase & 1:
                steps[phase] = phases[phase].read()
        if measured >> FIRST_BYTE & 1:
            if heartbeat["load_time"] is None:
                steps[FIRST_BYTE] = phases[FIRST_BYTE].read()
            else:
                left = heartbeat["load_time"] // unit - sum(steps.values())
                steps[FIRST_BYTE] = (left - rest.signed()) & U64
        heartbeat["phases"] = {
            name: duration(steps[phase], unit)
            for phase, name in enumerate(PHASES)
            if phase in steps
        }


def read_regions(row, heartbeats):
    coder = RangeDecoder(row)
    unit = Number(coder, 0).read() or 1
    counts, names, messages = Number(coder, 2), Text(coder), Text(coder)
    positions = []
    for heartbeat in heartbeats:
        count = counts.read()
        if count >= 64:
            raise Damaged("there are too many regions")
        heartbeat["regions"] = []
        for position in range(count):
            if position == len(positions):
                positions.append((Tree(coder, 2), Decision(coder), Number(coder, 6)))
            status, timed, load_time = positions[position]
            result = {"region": names.read()}
            result["status"] = STATUSES[status.read()]
            result["load_time"] = duration(load_time.read(), unit) if timed.read() else None
            result["message"] = messages.read()
            heartbeat["regions"].append(result)


def read_readings(row, heartbeats):
    coder = RangeDecoder(row)
    places = [[Decision(coder), Number(coder, 4), 0] for _ in range(2)]
    for heartbeat in heartbeats:
        readings = [None, None]
        for at, place in enumerate(places):
            if place[0].read():
                place[2] = i64(place[2] + place[1].signed())
                readings[at] = place[2]
        if readings != [None, None]:
            heartbeat["readings"] = readings


def read_block(
    data, phases=None, regions=None, readings=None, trace=lambda text, coder: None
):
    heartbeats = read_data(data, trace)
    if phases:
        read_phases(phases, heartbeats)
    if regions:
        read_regions(regions, heartbeats)
    if readings:
        read_readings(readings, heartbeats)
    return heartbeats


# 9. Bit stream


class BitStream:
    def __init__(self, data):
        self.value, self.at = int.from_bytes(data, "little"), 0

    def bits(self, count):
        value = self.value >> self.at & ((1 << count) - 1)
        self.at += count
        return value

    def flag(self):
        return self.bits(1)

    def ones(self):
        count = 0
        while count < 24 and self.flag():
            count += 1
        return count

    def number(self, rough):
        length = self.ones()
        if length == 24:
            length = min(self.bits(7), 64)
        top = 0 if length == 0 else (1 << (length - 1)) + self.bits(length - 1)
        return (top << rough) + self.bits(rough) & U64

    def signed(self, rough):
        return unzigzag(self.number(rough))

    def small(self, rough):
        whole = self.ones()
        if whole == 24:
            whole = self.number(0)
        return (whole << rough) + self.bits(rough)


class Lane:
    def __init__(self, stream, rough):
        self.stream, self.is_first = stream, True
        self.average, self.distance = 0, (1 << rough) - 1

    def read(self):
        offset = self.stream.signed(min(self.distance.bit_length(), 63))
        value = i64(self.average + offset)
        if self.is_first:
            self.is_first, self.average, self.distance = False, value, 15
        else:
            self.average = i64(self.average + trunc_div(offset, 4))
            self.distance += abs(offset) // 4 - self.distance // 4
        return value

    def unsigned(self):
        return self.read() & U64


# 10. Roll-ups


def read_rollups(row):
    stream = BitStream(payload(row, (1, 2)))
    statuses = 6 if stream.bits(8) == 2 else 5
    count = min(stream.number(4), 1000)
    reader = RollupReader(stream, stream.number(6) or 1, statuses)
    rollups = [reader.read() for _ in range(count)]
    if stream.flag():
        for rollup in rollups:
            for phase in rollup["phases"].values():
                if phase["count"]:
                    low = min(stream.number(9), LAST_BIN)
                    phase["sketch"] = read_sketch(stream, low, phase["count"])
    return rollups


def shares(numbers):
    """By name; degraded only if there is any."""
    named = zip(COUNTS_AS, numbers)
    return {name: number for name, number in named if number or name != "degraded"}


class RollupReader:
    def __init__(self, stream, unit, statuses):
        self.stream, self.unit, self.statuses = stream, unit, statuses
        self.next_hour = None
        self.within, self.length = Lane(stream, 20), Lane(stream, 24)
        self.phases = [Lane(stream, 16) for _ in PHASES]
        self.rest = Lane(stream, 16)
        self.shortest, self.longest = Lane(stream, 10), Lane(stream, 10)
        self.last_counts_as, self.last_reach = 0, 0
        self.checks, self.measured = [0] * statuses, [0] * 5

    def read(self):
        stream = self.stream
        if self.next_hour is None:
            hour = stream.signed(20)
        else:
            hour = i64(self.next_hour + stream.signed(0))
        self.next_hour = i64(hour + 1)
        first = i64(hour * 3_600_000 + self.within.read())
        last = i64(first + self.length.read())
        if not stream.flag():
            self.last_counts_as = counts_as(stream.bits(3))
            self.last_reach = stream.signed(18)
        millis = self.read_shares(last - first)
        counts = self.read_counts()
        return {
            "first": first,
            "last": {
                "at": last,
                "counts_as": COUNTS_AS[self.last_counts_as],
                "valid_until": i64(last + self.last_reach),
            },
            "checks": shares(self.checks),
            "millis": shares(millis),
            **self.read_times(*counts),
        }

    def read_shares(self, span):
        stream = self.stream
        if not stream.flag():
            self.checks = [stream.number(2) for _ in range(self.statuses)]
        most = max(range(self.statuses), key=lambda at: (self.checks[at], at))
        millis = [0] * self.statuses
        idle = 0
        if not stream.flag():
            idle = stream.number(8)
            for at in range(self.statuses):
                if at != most:
                    millis[at] = stream.number(2)
        millis[most] = (span - idle - sum(millis)) & U64
        return millis

    def read_counts(self):
        stream = self.stream
        up = self.checks[0] + sum(self.checks[DEGRADED:])
        loads = up if stream.flag() else stream.number(4)
        if not stream.flag():
            self.measured = [stream.bits(2) for _ in PHASES]
        phases = []
        for measured in self.measured:
            phases.append(0 if measured == 0 else loads if measured == 1 else stream.number(4))
        return loads, phases

    def read_times(self, loads, phase_counts):
        unit, all_steps, phases = self.unit, 0, {}
        for name, lane, count in zip(PHASES, self.phases, phase_counts):
            steps = lane.unsigned() if count else 0
            all_steps += steps
            phases[name] = {
                "count": count,
                "sum": duration(steps, unit),
                "sketch": {"low": 0, "counts": []},
            }
        load_time = {"count": loads, "sum": 0, "min": 0, "max": 0}
        load_time["sketch"] = {"low": 0, "counts": []}
        if loads:
            load_time["sum"] = duration((all_steps + self.rest.unsigned()) & U64, unit)
            load_time["min"] = duration(self.shortest.unsigned(), unit)
            load_time["max"] = duration(self.longest.unsigned(), unit)
            load_time["sketch"] = read_sketch(self.stream, bin_of(load_time["min"]), loads)
        load_time["percentiles"] = percentiles(load_time)
        return {"load_time": load_time, "phases": phases}


# 11. Sketches

LAST_BIN = 2300
BOUNDS = [1.0]
while len(BOUNDS) <= LAST_BIN:
    BOUNDS.append(BOUNDS[-1] * 1.02)


def bin_of(value):
    return bisect_right(BOUNDS, float(value)) if value else 0


def read_sketch(stream, low, total):
    has_gaps = stream.flag()
    before, left, counts = (0, 0), total, []
    while left > 0 and low + len(counts) <= LAST_BIN:
        count = 0
        if not has_gaps or stream.flag():
            count = min(read_bin(stream, sum(before)) + has_gaps, 0xFFFFFFFF)
            before = (before[1], count)
        left -= count
        counts.append(count)
    return {"low": low, "counts": counts}


def read_bin(stream, both):
    if both < 6:
        return stream.small(1 if both > 3 else 0)
    middle = both // 2
    offset = stream.small(both.bit_length() // 2)
    return middle + unzigzag(offset) if offset <= 2 * middle else offset


def percentiles(load_time):
    sketch = load_time["sketch"]
    total = sum(sketch["counts"])
    found = {}
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
        exact = total * share
        rank = max(int(exact) + (int(exact) < exact), 1)
        for at, count in enumerate(sketch["counts"], sketch["low"]):
            rank -= count
            if rank <= 0:
                value = 0.0 if at == 0 else 2.0 * BOUNDS[at] / 2.02
                found[name] = min(max(value, float(load_time["min"])), float(load_time["max"]))
                break
    return found


# 1 and 12. Where rows come from


def rows_of(database, table, columns, monitor, condition="", order=""):
    where = [condition] if condition else []
    where += ["monitor_id = ?"] if monitor else []
    where = " where " + " and ".join(where) if where else ""
    query = f"select monitor_id, {columns} from {table}{where} order by monitor_id, {order}"
    return database.execute(query, [monitor.bytes] if monitor else [])


def heartbeats_of(database, monitor, report):
    """For each monitor, the heartbeats in blocks and the recent ones, in order of time."""
    ids = "select monitor_id from blocks union select monitor_id from heartbeats order by 1"
    monitors = [monitor] if monitor else [uuid.UUID(bytes=row[0]) for row in database.execute(ids)]
    for one in monitors:
        found = {}
        columns = "from_at, data, phases, regions, readings"
        for _, at, data, *parts in rows_of(database, "blocks", columns, one, order="from_at"):
            try:
                heartbeats = read_data(data, lambda text, coder: None)
            except Damaged as error:
                report(f"the block of monitor {one} from {at} on", error)
                continue
            for read, part in zip((read_phases, read_regions, read_readings), parts):
                try:
                    if part:
                        read(part, heartbeats)
                except Damaged as error:
                    report(f"a part of the block of monitor {one} from {at} on", error)
            found.update(((beat["at"], beat["seq"]), beat) for beat in heartbeats)
        for key, beat in recent(database, one):
            found.setdefault(key, beat)
        for key in sorted(found):
            yield one, found[key]


def recent(database, monitor):
    outages = database.execute(
        "select started, ended from alerts where monitor_id = ? and kind = 'outage'",
        [monitor.bytes],
    ).fetchall()
    interval = database.execute(
        "select heartbeat_interval from monitors where id = ?", [monitor.bytes]
    ).fetchone()
    columns = "at, seq, status, message, load_time, phases, regions, readings"
    for row in rows_of(database, "heartbeats", columns, monitor, order="at, seq"):
        _, at, seq, status, message, load_time, phases, regions, readings = row
        counted = status
        if status == "down" and not any(
            started <= at and (ended is None or at < ended) for started, ended in outages
        ):
            counted = "pending"
        yield (at, seq), {
            "at": at,
            "seq": seq,
            "counts_as": counted,
            "status": status,
            "interval": interval[0] if interval else 0,
            "message": message,
            "load_time": load_time,
            "phases": json.loads(phases) if phases else {},
            "regions": [
                {"load_time": None, "message": "", **result} for result in json.loads(regions or "[]")
            ],
            **({"readings": json.loads(readings)} if readings else {}),
        }


def rollups_of(database, grain, monitor, report):
    condition = f"grain = {GRAINS[grain]}"
    for id, at, data in rows_of(database, "rollups", "at, data", monitor, condition, "at"):
        id = uuid.UUID(bytes=id)
        try:
            for rollup in read_rollups(data):
                yield id, rollup
        except Damaged as error:
            report(f"the row of {grain} of monitor {id} at {at}", error)


def from_hex(line, trace):
    kind, *columns = line.split()
    columns = [None if column == "-" else bytes.fromhex(column) for column in columns]
    if kind == "block":
        return read_block(*columns, trace=trace)
    if kind == "rollup":
        return read_rollups(*columns)
    raise ValueError(f"a line must begin with block or rollup, not with {kind}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["heartbeats", *GRAINS, "hex"])
    parser.add_argument("file", nargs="?", type=Path, help="a copy of wakeful.db")
    parser.add_argument("--monitor", type=uuid.UUID, help="only this monitor")
    parser.add_argument("--trace", action="store_true", help="with hex: each field of DATA")
    options = parser.parse_args()
    failed = False

    def report(what, error):
        nonlocal failed
        failed = True
        print(f"{what} is damaged, skipping it: {error}", file=sys.stderr)

    def show(value):
        print(json.dumps(value, ensure_ascii=False))

    def trace(text, coder):
        if options.trace:
            print(f"{text:<36} code {coder.code:08x}  range {coder.range:08x}")

    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    if options.what == "hex":
        for number, line in enumerate(filter(str.strip, sys.stdin), 1):
            try:
                values = (json.dumps(value, ensure_ascii=False) for value in from_hex(line, trace))
                print("[" + ",\n ".join(values) + "]")
            except Damaged as error:
                show({"damaged": str(error)})
                report(f"row {number}", error)
        return failed
    if options.file is None:
        parser.error("the database file is required")
    database = sqlite3.connect(f"{options.file.resolve().as_uri()}?mode=ro", uri=True)
    if options.what == "heartbeats":
        found = heartbeats_of(database, options.monitor, report)
    else:
        found = rollups_of(database, options.what, options.monitor, report)
    for monitor, value in found:
        show({"monitorid": str(monitor), **value})
    return failed


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        sys.exit(1)
