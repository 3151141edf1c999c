-- Several nodes on one database: who they are, which slots of monitors each
-- holds, and what one asks of another. Times of leases are the database's own.
-- With SQLite a node is alone and leaves most of this empty.

-- Ten bits of the id, as `Slot::of` reads them.
alter table monitors add column slot integer not null default 0;
update monitors
set slot = (instr('0123456789ABCDEF', substr(hex(id), 28, 1)) - 1) % 4 * 256
         + (instr('0123456789ABCDEF', substr(hex(id), 29, 1)) - 1) * 16
         + (instr('0123456789ABCDEF', substr(hex(id), 30, 1)) - 1);

-- A process that lives; a new row at every start.
create table nodes (
    id blob primary key,
    name text not null,
    home text not null, -- where it runs; who starts there again follows it
    version text not null,
    started integer not null,
    expires integer not null, -- heard of too long ago: dead
    leaving integer not null default 0 -- it takes no part any more
) strict, without rowid;

-- Whoever is granted a slot raises its epoch. Results carry the epoch they were
-- found under, and an old one is refused.
create table slots (
    slot integer primary key,
    owner blob, -- null: free
    epoch integer not null default 0
) strict;

insert into slots (slot)
with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n < 1023)
select n from numbers;

-- What is asked of whoever holds a monitor: to take a report, or to check now.
create table asks (
    id blob primary key,
    monitor_id blob not null references monitors (id) on delete cascade,
    slot integer not null,
    body text not null, -- JSON
    answer text, -- JSON; null: not done yet
    created integer not null -- the database's time
) strict, without rowid;

create index asks_open on asks (slot) where answer is null;
create index asks_monitor on asks (monitor_id);
create index asks_created on asks (created);

-- The node that sends it, so that its death frees it at once.
alter table deliveries add column claimed_by blob;
alter table mails add column claimed_by blob;
