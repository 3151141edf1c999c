-- Monitors, what their checks have come to, and who is told. What a person
-- sets and what a verdict keeps are different columns: neither overwrites the
-- other. `revision` counts the first, `seq` the second.

create table monitors (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    name text not null,
    kind text not null,
    spec text not null, -- JSON without its secret
    secret bytea, -- sealed
    isactive boolean not null,
    heartbeat_interval bigint not null, -- seconds, as the next two
    timeout bigint,
    retry_interval bigint,
    retries bigint not null,
    upside_down_mode boolean not null,
    tags text not null, -- JSON array
    search text not null, -- name, target and tags in lower case
    push_digest bytea,
    push_token bytea, -- sealed
    revision bigint not null default 1,
    status text not null default 'pending',
    state text not null default '{}', -- JSON
    seq bigint not null default 0,
    created bigint not null,
    modified bigint not null
);

create unique index monitors_push_digest on monitors (push_digest);
create index monitors_team on monitors (team_id, id);

create table notifiers (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    name text not null,
    kind text not null,
    config text not null, -- JSON without its secret
    secret bytea, -- sealed
    disabled_at bigint,
    disabled_why text not null default '',
    created bigint not null,
    modified bigint not null
);

create index notifiers_team on notifiers (team_id, id);

-- A notifier that is linked cannot be deleted, so its side does not cascade.
create table monitor_notifiers (
    monitor_id uuid not null references monitors (id) on delete cascade,
    notifier_id uuid not null references notifiers (id),
    position bigint not null,
    primary key (monitor_id, notifier_id)
);

create index monitor_notifiers_notifier on monitor_notifiers (notifier_id);

-- No reference to monitors: a cascade over a year of heartbeats would hold the
-- writer for seconds. The graves below have them swept away in small steps.
create table heartbeats (
    monitor_id uuid not null,
    at bigint not null,
    seq bigint not null,
    status text not null,
    message text not null,
    load_time bigint, -- microseconds
    phases text, -- JSON, microseconds
    primary key (monitor_id, at, seq)
);

create table graves (
    monitor_id uuid primary key
);

create function bury_monitor() returns trigger language plpgsql as $$
begin
    insert into graves (monitor_id) values (old.id);
    return null;
end $$;

create trigger monitors_graves after delete on monitors
for each row execute function bury_monitor();

create table alerts (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    monitor_id uuid not null references monitors (id) on delete cascade,
    kind text not null,
    cause text not null,
    started bigint not null,
    ended bigint -- null: the outage lasts
);

create index alerts_team on alerts (team_id, id);
create index alerts_monitor on alerts (monitor_id, id);

-- One event for one notifier. Those of a monitor and notifier go out in the
-- order of `sequence`.
create table deliveries (
    id uuid primary key,
    eventid uuid not null,
    team_id uuid not null references teams (id) on delete cascade,
    monitor_id uuid not null references monitors (id) on delete cascade,
    notifier_id uuid not null references notifiers (id) on delete cascade,
    alert_id uuid references alerts (id) on delete cascade,
    sequence bigint not null,
    kind text not null,
    body text not null, -- JSON
    state text not null default 'waiting',
    attempts bigint not null default 0,
    next_try bigint, -- null: delivered or given up
    lease_until bigint not null default 0,
    last_answer text not null default '',
    created bigint not null,
    finished bigint
);

create unique index deliveries_event on deliveries (eventid, notifier_id);
create index deliveries_next_try on deliveries (next_try) where next_try is not null;
create index deliveries_line on deliveries (monitor_id, notifier_id, sequence);
create index deliveries_alert on deliveries (alert_id);
create index deliveries_notifier on deliveries (notifier_id);
create index deliveries_team on deliveries (team_id);
