-- What verdicts come to, in a row of its own: every check writes it, and a
-- small row is written at a fraction of what the monitor's wide one costs.
-- The room left in each page lets the new version of a row stay in it.
create table monitor_states (
    monitor_id uuid primary key references monitors (id) on delete cascade,
    status text not null default 'pending',
    since bigint,
    last_check bigint,
    last_message text not null default '',
    load_time bigint, -- microseconds
    failing text, -- JSON; null: the last check passed
    warned text, -- JSON; null: no warnings given
    seq bigint not null default 0
) with (fillfactor = 60);

insert into monitor_states
    (monitor_id, status, since, last_check, last_message, load_time, failing, warned, seq)
select id, status, cast(cast(state as json) ->> 'since' as bigint),
       cast(cast(state as json) ->> 'last_check' as bigint),
       coalesce(cast(state as json) ->> 'last_message', ''),
       cast(cast(state as json) ->> 'load_time' as bigint),
       cast(state as json) ->> 'failing', cast(state as json) ->> 'warned', seq
from monitors;

alter table monitors drop column status;
alter table monitors drop column state;
alter table monitors drop column seq;
