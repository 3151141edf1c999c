-- The past of monitors. Fresh heartbeats are folded into blocks; hours and days
-- keep what they come to. As with heartbeats, nothing here refers to monitors:
-- the graves have it swept away in small steps.

-- Rows with a rowid: the bytes are too many for the pages of an index.
create table blocks (
    monitor_id blob not null,
    from_at integer not null, -- the first heartbeat
    to_at integer not null, -- the last one
    count integer not null,
    data blob not null, -- see wakeful-core's history/pack.rs
    phases blob -- null: none, or let go
) strict;

create unique index blocks_place on blocks (monitor_id, from_at);

create table hours (
    monitor_id blob not null,
    at integer not null, -- the day they are of
    data blob not null -- see wakeful-core's history/rollup.rs
) strict;

create unique index hours_place on hours (monitor_id, at);

create table days (
    monitor_id blob not null,
    at integer not null,
    data blob not null,
    primary key (monitor_id, at)
) strict, without rowid;

-- How far each monitor is folded. Whoever folds raises the revision, so of two
-- that fold the same monitor at once, one begins anew.
create table folds (
    monitor_id blob primary key,
    revision integer not null,
    until integer not null -- the last folded heartbeat
) strict, without rowid;
