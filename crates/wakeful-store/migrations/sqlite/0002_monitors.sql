-- Monitors, what their checks have come to, and who is told. What a person
-- sets and what a verdict keeps are different columns: neither overwrites the
-- other. `revision` counts the first, `seq` the second.

create table monitors (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    name text not null,
    kind text not null,
    spec text not null, -- JSON without its secret
    secret blob, -- sealed
    isactive integer not null,
    heartbeat_interval integer not null, -- seconds, as the next two
    timeout integer,
    retry_interval integer,
    retries integer not null,
    upside_down_mode integer not null,
    tags text not null, -- JSON array
    search text not null, -- name, target and tags in lower case
    push_digest blob,
    push_token blob, -- sealed
    revision integer not null default 1,
    status text not null default 'pending',
    state text not null default '{}', -- JSON
    seq integer not null default 0,
    created integer not null,
    modified integer not null
) strict, without rowid;

create unique index monitors_push_digest on monitors (push_digest);
create index monitors_team on monitors (team_id, id);

create table notifiers (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    name text not null,
    kind text not null,
    config text not null, -- JSON without its secret
    secret blob, -- sealed
    disabled_at integer,
    disabled_why text not null default '',
    created integer not null,
    modified integer not null
) strict, without rowid;

create index notifiers_team on notifiers (team_id, id);

-- A notifier that is linked cannot be deleted, so its side does not cascade.
create table monitor_notifiers (
    monitor_id blob not null references monitors (id) on delete cascade,
    notifier_id blob not null references notifiers (id),
    position integer not null,
    primary key (monitor_id, notifier_id)
) strict, without rowid;

create index monitor_notifiers_notifier on monitor_notifiers (notifier_id);

-- No reference to monitors: a cascade over a year of heartbeats would hold the
-- writer for seconds. The graves below have them swept away in small steps.
create table heartbeats (
    monitor_id blob not null,
    at integer not null,
    seq integer not null,
    status text not null,
    message text not null,
    load_time integer, -- microseconds
    phases text, -- JSON, microseconds
    primary key (monitor_id, at, seq)
) strict, without rowid;

create table graves (
    monitor_id blob primary key
) strict, without rowid;

create trigger monitors_graves after delete on monitors
begin
    insert into graves (monitor_id) values (old.id);
end;

create table alerts (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    monitor_id blob not null references monitors (id) on delete cascade,
    kind text not null,
    cause text not null,
    started integer not null,
    ended integer -- null: the outage lasts
) strict, without rowid;

create index alerts_team on alerts (team_id, id);
create index alerts_monitor on alerts (monitor_id, id);

-- One event for one notifier. Those of a monitor and notifier go out in the
-- order of `sequence`.
create table deliveries (
    id blob primary key,
    eventid blob not null,
    team_id blob not null references teams (id) on delete cascade,
    monitor_id blob not null references monitors (id) on delete cascade,
    notifier_id blob not null references notifiers (id) on delete cascade,
    alert_id blob references alerts (id) on delete cascade,
    sequence integer not null,
    kind text not null,
    body text not null, -- JSON
    state text not null default 'waiting',
    attempts integer not null default 0,
    next_try integer, -- null: delivered or given up
    lease_until integer not null default 0,
    last_answer text not null default '',
    created integer not null,
    finished integer
) strict, without rowid;

create unique index deliveries_event on deliveries (eventid, notifier_id);
create index deliveries_next_try on deliveries (next_try) where next_try is not null;
create index deliveries_line on deliveries (monitor_id, notifier_id, sequence);
create index deliveries_alert on deliveries (alert_id);
create index deliveries_notifier on deliveries (notifier_id);
create index deliveries_team on deliveries (team_id);
