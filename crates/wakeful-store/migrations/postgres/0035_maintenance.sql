-- Maintenance windows, and what they did to the monitors they covered.
create table maintenances (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    name text not null,
    description text not null,
    isactive boolean not null,
    selector text not null, -- JSON
    schedule text not null, -- JSON
    checks text not null, -- run or pause
    counts text not null, -- excluded or counted
    alerts text not null, -- suppress or notify
    dependents boolean not null,
    grace bigint not null, -- seconds
    announce text not null, -- JSON
    -- When the maintenance clock looks at it next; null: never.
    next_at bigint,
    -- The occurrence that the maintenance clock has started.
    running_from bigint,
    running_to bigint,
    -- Until then, occurrences are skipped: one was ended early.
    skipped_until bigint,
    revision bigint not null default 0,
    created_by uuid,
    created bigint not null,
    modified bigint not null,
    -- Deleted by a user; the maintenance clock closes what it has opened, and removes it.
    deleted bigint
);

create index maintenances_team on maintenances (team_id);
create index maintenances_next on maintenances (next_at) where next_at is not null;

-- When a monitor was covered by maintenance, or unreachable: as it happened, whatever becomes of
-- the window. Deleted with the heartbeats of the monitor.
create table exclusions (
    id uuid primary key,
    monitor_id uuid not null,
    from_at bigint not null,
    to_at bigint, -- null: it lasts
    kind text not null, -- maintenance or unreachable
    maintenance_id uuid,
    pauses boolean not null,
    counts boolean not null,
    -- When it began or ended, so that each node notices.
    changed bigint not null,
    -- It was recorded late: heartbeats that were compacted before count again.
    recount boolean not null
);

create index exclusions_monitor on exclusions (monitor_id, from_at);
create index exclusions_open on exclusions (monitor_id) where to_at is null;
create index exclusions_changed on exclusions (changed);
create index exclusions_recount on exclusions (id) where recount;

-- A monitor that gets or loses a tag is covered or not from then on: the maintenance clock looks at
-- the running windows of its team again. For a new monitor, the statement that adds it does the same.
-- The maintenance clock locks the windows before it reads the monitors, so
-- either it sees the change, or this waits for it.
create function look_at_maintenance() returns trigger language plpgsql as $$
begin
    -- Those that run, or begin before this commits. When many monitors are changed together, the
    -- first has made them due.
    perform 1 from maintenances
    where team_id = new.team_id
    and (running_from is not null or next_at <= new.modified + 60000)
    and next_at is distinct from new.modified
    order by id
    for no key update;
    update maintenances
    set next_at = new.modified
    where team_id = new.team_id and running_from is not null
    and (next_at is null or next_at > new.modified);
    return null;
end $$;

create trigger monitors_changed_in_maintenance after update of tags on monitors
for each row when (new.tags <> old.tags) execute function look_at_maintenance();
