-- What a team writes about outages and planned work on its status pages.
create table incidents (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    kind text not null, -- incident or maintenance
    title text not null,
    state text not null, -- draft, published or discarded
    status text not null,
    impact text not null,
    settings text not null, -- JSON: the rest of its fields
    source text not null, -- person or rule
    rule_id blob,
    started integer not null,
    resolved integer,
    -- When the maintenance clock, or the janitor for a discarded one, looks at it next.
    next_at integer,
    revision integer not null default 1,
    created integer not null,
    modified integer not null
) strict, without rowid;

create index incidents_team on incidents (team_id, id);
create index incidents_next on incidents (next_at) where next_at is not null;
create index incidents_rule on incidents (rule_id) where rule_id is not null;

-- The name remains when the component is deleted.
create table incident_components (
    incident_id blob not null references incidents (id) on delete cascade,
    component_id blob not null,
    page_id blob not null,
    position integer not null,
    name text not null,
    status text not null,
    primary key (incident_id, component_id)
) strict, without rowid;

create index incident_components_component on incident_components (component_id);

-- The pages that show it: those of its components, and those that it affects as a whole.
create table incident_pages (
    incident_id blob not null references incidents (id) on delete cascade,
    page_id blob not null references statuspages (id) on delete cascade,
    is_whole integer not null,
    primary key (incident_id, page_id)
) strict, without rowid;

create index incident_pages_page on incident_pages (page_id);

create table incident_updates (
    id blob primary key,
    incident_id blob not null references incidents (id) on delete cascade,
    status text not null,
    body text not null,
    settings text not null, -- JSON
    display_at integer not null,
    by_rule integer not null,
    created integer not null,
    edited integer
) strict, without rowid;

create index incident_updates_incident on incident_updates (incident_id, id);

create table incident_templates (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    name text not null,
    settings text not null, -- JSON
    created integer not null,
    modified integer not null
) strict, without rowid;

create index incident_templates_team on incident_templates (team_id, id);

create table statuspage_rules (
    id blob primary key,
    page_id blob not null references statuspages (id) on delete cascade,
    position integer not null,
    isactive integer not null,
    name text not null,
    settings text not null, -- JSON
    state text not null default '{}' -- JSON: its open incident, and since when all is up
) strict, without rowid;

create index statuspage_rules_page on statuspage_rules (page_id);
