-- Webhooks that receive a team's audit log, in order. The log is the outbox: there is no row for
-- each delivery.
create table audit_streams (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    -- The URL and the signing secret.
    secret bytea not null,
    -- The last entry that was delivered.
    cursor bigint not null,
    -- The last entry of the request that is being sent or retried.
    batch_end bigint,
    attempts bigint not null default 0,
    failing_since bigint,
    next_try bigint not null default 0,
    lease_until bigint not null default 0,
    last_error text not null default '',
    disabled_at bigint,
    created bigint not null
);

create index audit_streams_team on audit_streams (team_id);
create index audit_streams_due on audit_streams (next_try) where disabled_at is null;

-- The last entry of a chain whose hash is in the process log.
alter table audit_heads add column reported_seq bigint not null default 0;
