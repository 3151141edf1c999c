-- Monitor filters limit a member or an API key to monitors with one of some tags, or to
-- some monitors. An empty one matches nothing.

create table monitor_filters (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade
) strict, without rowid;

create index monitor_filters_team on monitor_filters (team_id);

create table monitor_filter_tags (
    filter_id blob not null references monitor_filters (id) on delete cascade,
    tag text not null,
    primary key (filter_id, tag)
) strict, without rowid;

create table monitor_filter_monitors (
    filter_id blob not null references monitor_filters (id) on delete cascade,
    monitor_id blob not null references monitors (id) on delete cascade,
    primary key (filter_id, monitor_id)
) strict, without rowid;

create index monitor_filter_monitors_monitor on monitor_filter_monitors (monitor_id);

-- The tags of each monitor, as in its JSON. Triggers write them, because a node of an
-- earlier version does not.
create table monitor_tags (
    monitor_id blob not null references monitors (id) on delete cascade,
    tag text not null,
    primary key (monitor_id, tag)
) strict, without rowid;

insert into monitor_tags (monitor_id, tag)
select distinct m.id, t.value from monitors m, json_each(m.tags) t;

create trigger monitors_add_tags after insert on monitors when new.tags <> '[]'
begin
    insert or ignore into monitor_tags (monitor_id, tag)
    select new.id, value from json_each(new.tags);
end;

create trigger monitors_change_tags after update of tags on monitors when new.tags <> old.tags
begin
    delete from monitor_tags where monitor_id = new.id;
    insert or ignore into monitor_tags (monitor_id, tag)
    select new.id, value from json_each(new.tags);
end;

-- Nobody may lose their filter: without one, they would see everything. It is deleted with
-- the member or key.
alter table members add column filter_id blob references monitor_filters (id);
alter table api_keys add column filter_id blob references monitor_filters (id);
-- When a key becomes invalid; null if never.
alter table api_keys add column expires integer;
-- How many days before its expiry the holder was last reminded.
alter table api_keys add column reminded_days integer;
create index api_keys_expires on api_keys (expires) where expires is not null;

create trigger members_filter after delete on members when old.filter_id is not null
begin
    delete from monitor_filters where id = old.filter_id;
end;

create trigger api_keys_filter after delete on api_keys when old.filter_id is not null
begin
    delete from monitor_filters where id = old.filter_id;
end;
