-- Messages about a maintenance window or an on-call schedule belong to no monitor. They are sent in
-- the order of their line: a monitor, a window or a schedule.
create table deliveries_by_line (
    id blob primary key,
    eventid blob not null,
    team_id blob not null references teams (id) on delete cascade,
    monitor_id blob references monitors (id) on delete cascade,
    notifier_id blob not null references notifiers (id) on delete cascade,
    alert_id blob references alerts (id) on delete cascade,
    sequence integer not null,
    kind text not null,
    body text not null, -- JSON
    state text not null default 'waiting',
    attempts integer not null default 0,
    next_try integer, -- null: delivered or given up
    lease_until integer not null default 0,
    last_answer text not null default '',
    created integer not null,
    finished integer,
    claimed_by blob,
    left_to text, -- JSON; null: everybody
    claims integer not null default 0,
    recipients text, -- JSON; null: no mail, or none was tried
    is_step integer not null default 0,
    line blob not null
) strict, without rowid;

insert into deliveries_by_line
select id, eventid, team_id, monitor_id, notifier_id, alert_id, sequence, kind, body, state,
       attempts, next_try, lease_until, last_answer, created, finished, claimed_by, left_to,
       claims, recipients, is_step, monitor_id
from deliveries;

drop table deliveries;
alter table deliveries_by_line rename to deliveries;

create unique index deliveries_event on deliveries (eventid, notifier_id);
create index deliveries_next_try on deliveries (next_try) where next_try is not null;
create index deliveries_monitor on deliveries (monitor_id);
create index deliveries_alert on deliveries (alert_id);
create index deliveries_notifier on deliveries (notifier_id);
create index deliveries_team on deliveries (team_id);
create index deliveries_waiting on deliveries (team_id, notifier_id, line, sequence, id,
    next_try, lease_until, created, claims, claimed_by, state, left_to,
    is_step, attempts)
    where state = 'waiting' and left_to is null;
create index deliveries_left_to on deliveries (state, next_try) where left_to is not null;

-- Until when the announcements of a window have been sent; null: it was changed since.
alter table maintenances add column announced integer;

-- When the maintenance clock looks at a schedule next; null: its handovers are not announced.
alter table schedules add column next_at integer;
-- The user who was on call when it last did; null: nobody.
alter table schedules add column on_call blob;
create index schedules_next on schedules (next_at) where next_at is not null;

-- The only user who sees a notifier and is notified by it; null for those of the team. A node of
-- an earlier version lists none that is implicit, so these are.
alter table notifiers add column owner_id blob references users (id) on delete cascade;
create index notifiers_owner on notifiers (owner_id) where owner_id is not null;

-- Notifiers of programs get every type of event.
update notifiers
set events = json_insert(events, '$[#]', 'maintenance.scheduled', '$[#]', 'maintenance.started',
                         '$[#]', 'maintenance.ended', '$[#]', 'oncall.handover')
where events like '%"notifier.test"%';
