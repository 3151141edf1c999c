-- Status pages: what a team shows its customers. Nothing here is read by a check.
create table statuspages (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    name text not null,
    slug text not null, -- the current one; all of them are in statuspage_slugs
    published boolean not null,
    access text not null, -- public, password, token or members
    password_hash text not null default '', -- Argon2id; empty: none
    password_revision bigint not null default 0, -- a new password ends all visits
    access_token bytea, -- sealed
    settings text not null, -- JSON
    -- What an editor's save must name.
    revision bigint not null default 1,
    -- Counts everything that changes what is shown, so that each node notices.
    changed bigint not null default 1,
    created bigint not null,
    modified bigint not null
);

create index statuspages_team on statuspages (team_id, id);

-- A slug belongs to one page of the installation. Former ones redirect until another page takes
-- them.
create table statuspage_slugs (
    slug text primary key,
    page_id uuid not null references statuspages (id) on delete cascade,
    is_current boolean not null
);

create index statuspage_slugs_page on statuspage_slugs (page_id);

create table statuspage_domains (
    domain text primary key, -- lower case
    page_id uuid not null references statuspages (id) on delete cascade,
    is_primary boolean not null,
    verified bigint -- when its record was found
);

create index statuspage_domains_page on statuspage_domains (page_id);

create table statuspage_images (
    page_id uuid not null references statuspages (id) on delete cascade,
    kind text not null, -- logo, logo_dark or favicon
    digest text not null, -- of the content; part of its URL
    media_type text not null,
    data bytea not null,
    primary key (page_id, kind)
);

create table sections (
    id uuid primary key,
    page_id uuid not null references statuspages (id) on delete cascade,
    position bigint not null,
    name text not null,
    settings text not null -- JSON
);

create index sections_page on sections (page_id);

create table components (
    id uuid primary key,
    page_id uuid not null references statuspages (id) on delete cascade,
    section_id uuid not null references sections (id) on delete cascade,
    position bigint not null,
    name text not null,
    tag text not null, -- includes every monitor with this tag; empty: none
    settings text not null, -- JSON
    override text, -- JSON: a status that a user has set
    created bigint not null
);

create index components_page on components (page_id);
create index components_section on components (section_id);

-- Deleted with the monitor: its components go on without it.
create table component_monitors (
    component_id uuid not null references components (id) on delete cascade,
    monitor_id uuid not null references monitors (id) on delete cascade,
    position bigint not null,
    primary key (component_id, monitor_id)
);

create index component_monitors_monitor on component_monitors (monitor_id);
