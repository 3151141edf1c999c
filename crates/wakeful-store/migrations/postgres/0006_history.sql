-- The past of monitors. Fresh heartbeats are folded into blocks; hours and days
-- keep what they come to. As with heartbeats, nothing here refers to monitors:
-- the graves have it swept away in small steps. The bytes are packed already,
-- so PostgreSQL is told not to try again.

create table blocks (
    monitor_id uuid not null,
    from_at bigint not null, -- the first heartbeat
    to_at bigint not null, -- the last one
    count bigint not null,
    data bytea not null, -- see wakeful-core's history/pack.rs
    phases bytea -- null: none, or let go
);

alter table blocks alter column data set storage external;
alter table blocks alter column phases set storage external;
create unique index blocks_place on blocks (monitor_id, from_at);

create table hours (
    monitor_id uuid not null,
    at bigint not null, -- the day they are of
    data bytea not null -- see wakeful-core's history/rollup.rs
);

alter table hours alter column data set storage external;
create unique index hours_place on hours (monitor_id, at);

create table days (
    monitor_id uuid not null,
    at bigint not null,
    data bytea not null,
    primary key (monitor_id, at)
);

alter table days alter column data set storage external;

-- How far each monitor is folded. Whoever folds raises the revision, so of two
-- that fold the same monitor at once, one begins anew.
create table folds (
    monitor_id uuid primary key,
    revision bigint not null,
    until bigint not null -- the last folded heartbeat
);
