-- What a team writes about outages and planned work on its status pages.
create table incidents (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    kind text not null, -- incident or maintenance
    title text not null,
    state text not null, -- draft, published or discarded
    status text not null,
    impact text not null,
    settings text not null, -- JSON: the rest of its fields
    source text not null, -- person or rule
    rule_id uuid,
    started bigint not null,
    resolved bigint,
    -- When the maintenance clock, or the janitor for a discarded one, looks at it next.
    next_at bigint,
    revision bigint not null default 1,
    created bigint not null,
    modified bigint not null
);

create index incidents_team on incidents (team_id, id);
create index incidents_next on incidents (next_at) where next_at is not null;
create index incidents_rule on incidents (rule_id) where rule_id is not null;

-- The name remains when the component is deleted.
create table incident_components (
    incident_id uuid not null references incidents (id) on delete cascade,
    component_id uuid not null,
    page_id uuid not null,
    position bigint not null,
    name text not null,
    status text not null,
    primary key (incident_id, component_id)
);

create index incident_components_component on incident_components (component_id);

-- The pages that show it: those of its components, and those that it affects as a whole.
create table incident_pages (
    incident_id uuid not null references incidents (id) on delete cascade,
    page_id uuid not null references statuspages (id) on delete cascade,
    is_whole boolean not null,
    primary key (incident_id, page_id)
);

create index incident_pages_page on incident_pages (page_id);

create table incident_updates (
    id uuid primary key,
    incident_id uuid not null references incidents (id) on delete cascade,
    status text not null,
    body text not null,
    settings text not null, -- JSON
    display_at bigint not null,
    by_rule boolean not null,
    created bigint not null,
    edited bigint
);

create index incident_updates_incident on incident_updates (incident_id, id);

create table incident_templates (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    name text not null,
    settings text not null, -- JSON
    created bigint not null,
    modified bigint not null
);

create index incident_templates_team on incident_templates (team_id, id);

create table statuspage_rules (
    id uuid primary key,
    page_id uuid not null references statuspages (id) on delete cascade,
    position bigint not null,
    isactive boolean not null,
    name text not null,
    settings text not null, -- JSON
    state text not null default '{}' -- JSON: its open incident, and since when all is up
);

create index statuspage_rules_page on statuspage_rules (page_id);
