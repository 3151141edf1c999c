-- What verdicts come to, in a row of its own: every check writes it, and a
-- small row is written at a fraction of what the monitor's wide one costs.
create table monitor_states (
    monitor_id blob primary key references monitors (id) on delete cascade,
    status text not null default 'pending',
    since integer,
    last_check integer,
    last_message text not null default '',
    load_time integer, -- microseconds
    failing text, -- JSON; null: the last check passed
    warned text, -- JSON; null: no warnings given
    seq integer not null default 0
) strict, without rowid;

insert into monitor_states
    (monitor_id, status, since, last_check, last_message, load_time, failing, warned, seq)
select id, status, state ->> 'since', state ->> 'last_check',
       coalesce(state ->> 'last_message', ''), state ->> 'load_time', state -> 'failing',
       state -> 'warned', seq
from monitors;

alter table monitors drop column status;
alter table monitors drop column state;
alter table monitors drop column seq;
