-- Monitors that depend on others: the outage of a child is not reported while a parent is down.
create table dependencies (
    team_id blob not null references teams (id) on delete cascade,
    child_id blob not null references monitors (id) on delete cascade,
    parent_id blob not null references monitors (id) on delete cascade,
    as_kind text not null, -- service or path
    primary key (child_id, parent_id)
) strict, without rowid;

create index dependencies_parent on dependencies (parent_id);
create index dependencies_team on dependencies (team_id);

-- From how many outages within how many seconds a monitor counts as flapping; 0: never.
alter table monitors add column flap_outages integer not null default 0;
alter table monitors add column flap_within integer not null default 3600;

create index monitors_groups on monitors (team_id) where kind = 'group';
