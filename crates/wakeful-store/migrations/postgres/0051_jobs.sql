-- Schedules, runs and pings of jobs.
alter table monitors add column slug text; -- in ping URLs; null for most
alter table monitors add column ping_digest bytea;
alter table monitors add column ping_uuid bytea; -- sealed
alter table monitors add column description text; -- null for none
alter table monitor_states add column push text; -- JSON: the runs in progress; null for most
alter table teams add column ping_key_digest bytea;
alter table teams add column ping_key bytea; -- sealed
create unique index monitors_slug on monitors (team_id, slug) where slug is not null;
create unique index monitors_ping_digest on monitors (ping_digest) where ping_digest is not null;
create index monitors_without_ping_url on monitors (id) where kind = 'api' and ping_digest is null;
create unique index teams_ping_key on teams (ping_key_digest) where ping_key_digest is not null;

create table pings (
    id uuid primary key,
    monitor_id uuid not null references monitors (id) on delete cascade,
    n bigint not null, -- counts the pings of the monitor
    at bigint not null,
    kind text not null, -- what has become of it
    exit_code bigint,
    rid uuid,
    method text not null,
    scheme text not null,
    client text not null, -- the address it came from
    agent text not null,
    duration bigint, -- of the run that it ended, in microseconds
    bytes bigint not null, -- stored of the body
    body bytea -- sealed
);
create unique index pings_of_monitor on pings (monitor_id, n);
create index pings_by_time on pings (at);
