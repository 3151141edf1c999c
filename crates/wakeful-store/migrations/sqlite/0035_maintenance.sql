-- Maintenance windows, and what they did to the monitors they covered.
create table maintenances (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    name text not null,
    description text not null,
    isactive integer not null,
    selector text not null, -- JSON
    schedule text not null, -- JSON
    checks text not null, -- run or pause
    counts text not null, -- excluded or counted
    alerts text not null, -- suppress or notify
    dependents integer not null,
    grace integer not null, -- seconds
    announce text not null, -- JSON
    -- When the maintenance clock looks at it next; null: never.
    next_at integer,
    -- The occurrence that the maintenance clock has started.
    running_from integer,
    running_to integer,
    -- Until then, occurrences are skipped: one was ended early.
    skipped_until integer,
    revision integer not null default 0,
    created_by blob,
    created integer not null,
    modified integer not null,
    -- Deleted by a user; the maintenance clock closes what it has opened, and removes it.
    deleted integer
) strict, without rowid;

create index maintenances_team on maintenances (team_id);
create index maintenances_next on maintenances (next_at) where next_at is not null;

-- When a monitor was covered by maintenance, or unreachable: as it happened, whatever becomes of
-- the window. Deleted with the heartbeats of the monitor.
create table exclusions (
    id blob primary key,
    monitor_id blob not null,
    from_at integer not null,
    to_at integer, -- null: it lasts
    kind text not null, -- maintenance or unreachable
    maintenance_id blob,
    pauses integer not null,
    counts integer not null,
    -- When it began or ended, so that each node notices.
    changed integer not null,
    -- It was recorded late: heartbeats that were compacted before count again.
    recount integer not null
) strict, without rowid;

create index exclusions_monitor on exclusions (monitor_id, from_at);
create index exclusions_open on exclusions (monitor_id) where to_at is null;
create index exclusions_changed on exclusions (changed);
create index exclusions_recount on exclusions (id) where recount;

-- A monitor that gets or loses a tag is covered or not from then on: the maintenance clock looks at
-- the running windows of its team again. For a new monitor, the statement that adds it does the same.
create trigger monitors_changed_in_maintenance after update of tags on monitors
when new.tags <> old.tags
begin
    update maintenances
    set next_at = new.modified
    where team_id = new.team_id and running_from is not null
    and (next_at is null or next_at > new.modified);
end;
