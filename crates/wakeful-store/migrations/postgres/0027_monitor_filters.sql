-- Monitor filters limit a member or an API key to monitors with one of some tags, or to
-- some monitors. An empty one matches nothing.

create table monitor_filters (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade
);

create index monitor_filters_team on monitor_filters (team_id);

create table monitor_filter_tags (
    filter_id uuid not null references monitor_filters (id) on delete cascade,
    tag text not null,
    primary key (filter_id, tag)
);

create table monitor_filter_monitors (
    filter_id uuid not null references monitor_filters (id) on delete cascade,
    monitor_id uuid not null references monitors (id) on delete cascade,
    primary key (filter_id, monitor_id)
);

create index monitor_filter_monitors_monitor on monitor_filter_monitors (monitor_id);

-- The tags of each monitor, as in its JSON. Triggers write them, because a node of an
-- earlier version does not.
create table monitor_tags (
    monitor_id uuid not null references monitors (id) on delete cascade,
    tag text not null,
    primary key (monitor_id, tag)
);

insert into monitor_tags (monitor_id, tag)
select distinct m.id, t.value
from monitors m cross join lateral jsonb_array_elements_text(m.tags::jsonb) t (value)
where m.tags <> '[]';

create function add_monitor_tags() returns trigger language plpgsql as $$
begin
    insert into monitor_tags (monitor_id, tag)
    select new.id, value from jsonb_array_elements_text(new.tags::jsonb) t (value)
    on conflict do nothing;
    return null;
end $$;

create function change_monitor_tags() returns trigger language plpgsql as $$
begin
    delete from monitor_tags where monitor_id = new.id;
    insert into monitor_tags (monitor_id, tag)
    select new.id, value from jsonb_array_elements_text(new.tags::jsonb) t (value)
    on conflict do nothing;
    return null;
end $$;

create trigger monitors_add_tags after insert on monitors
for each row when (new.tags <> '[]') execute function add_monitor_tags();

create trigger monitors_change_tags after update of tags on monitors
for each row when (new.tags <> old.tags) execute function change_monitor_tags();

-- Nobody may lose their filter: without one, they would see everything. It is deleted with
-- the member or key.
alter table members add column filter_id uuid references monitor_filters (id);
alter table api_keys add column filter_id uuid references monitor_filters (id);
-- When a key becomes invalid; null if never.
alter table api_keys add column expires bigint;
-- How many days before its expiry the holder was last reminded.
alter table api_keys add column reminded_days bigint;
create index api_keys_expires on api_keys (expires) where expires is not null;

create function delete_monitor_filter() returns trigger language plpgsql as $$
begin
    delete from monitor_filters where id = old.filter_id;
    return null;
end $$;

create trigger members_filter after delete on members
for each row when (old.filter_id is not null) execute function delete_monitor_filter();

create trigger api_keys_filter after delete on api_keys
for each row when (old.filter_id is not null) execute function delete_monitor_filter();
