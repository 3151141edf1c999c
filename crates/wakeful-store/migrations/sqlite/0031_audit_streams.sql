-- Webhooks that receive a team's audit log, in order. The log is the outbox: there is no row for
-- each delivery.
create table audit_streams (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    -- The URL and the signing secret.
    secret blob not null, -- sealed
    -- The last entry that was delivered.
    cursor integer not null,
    -- The last entry of the request that is being sent or retried.
    batch_end integer,
    attempts integer not null default 0,
    failing_since integer,
    next_try integer not null default 0,
    lease_until integer not null default 0,
    last_error text not null default '',
    disabled_at integer,
    created integer not null
) strict, without rowid;

create index audit_streams_team on audit_streams (team_id);
create index audit_streams_due on audit_streams (next_try) where disabled_at is null;

-- The last entry of a chain whose hash is in the process log.
alter table audit_heads add column reported_seq integer not null default 0;
