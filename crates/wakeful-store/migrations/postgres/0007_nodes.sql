-- Several nodes on one database: who they are, which slots of monitors each
-- holds, and what one asks of another. Times of leases are the database's own.

-- Ten bits of the id, as `Slot::of` reads them.
alter table monitors add column slot bigint not null default 0;
update monitors
set slot = (get_byte(uuid_send(id), 13) & 3) * 256 + get_byte(uuid_send(id), 14);
create index monitors_slot on monitors (slot, id);
-- What was edited lately is found here by those who were not told.
create index monitors_modified on monitors (modified);

-- A process that lives; a new row at every start.
create table nodes (
    id uuid primary key,
    name text not null,
    home text not null, -- where it runs; who starts there again follows it
    version text not null,
    started bigint not null,
    expires bigint not null, -- heard of too long ago: dead
    leaving boolean not null default false -- it takes no part any more
);

-- Whoever is granted a slot raises its epoch. Results carry the epoch they were
-- found under, and an old one is refused.
create table slots (
    slot bigint primary key,
    owner uuid, -- null: free
    epoch bigint not null default 0
);

insert into slots (slot) select generate_series(0, 1023);

-- What is asked of whoever holds a monitor: to take a report, or to check now.
create table asks (
    id uuid primary key,
    monitor_id uuid not null references monitors (id) on delete cascade,
    slot bigint not null,
    body text not null, -- JSON
    answer text, -- JSON; null: not done yet
    created bigint not null -- the database's time
);

create index asks_open on asks (slot) where answer is null;
create index asks_monitor on asks (monitor_id);
create index asks_created on asks (created);

-- The node that sends it, so that its death frees it at once.
alter table deliveries add column claimed_by uuid;
alter table mails add column claimed_by uuid;
