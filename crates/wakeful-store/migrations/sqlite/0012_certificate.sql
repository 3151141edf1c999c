-- The certificate that a target showed last, in a row of its own: it changes
-- every few weeks, and the state beside it is written at every check.
create table certificates (
    monitor_id blob primary key references monitors (id) on delete cascade,
    since integer not null, -- when it was first seen
    shown text not null -- JSON
) strict, without rowid;
