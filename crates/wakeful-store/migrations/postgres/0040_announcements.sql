-- Messages about a maintenance window or an on-call schedule belong to no monitor. They are sent in
-- the order of their line: a monitor, a window or a schedule.
alter table deliveries alter column monitor_id drop not null;
alter table deliveries add column line uuid;
update deliveries set line = monitor_id;
alter table deliveries alter column line set not null;

-- Nodes of earlier versions know no lines. They cannot read messages without a monitor either, so
-- none is written while such a node runs (`has_other_versions`).
create function deliveries_line() returns trigger language plpgsql as $$
begin
    new.line := new.monitor_id;
    return new;
end
$$;

create trigger deliveries_line before insert on deliveries
for each row when (new.line is null) execute function deliveries_line();

drop index deliveries_line;
create index deliveries_monitor on deliveries (monitor_id);
drop index deliveries_waiting;
create index deliveries_waiting on deliveries (team_id, notifier_id, line, sequence, id,
    next_try, lease_until, created, claims, claimed_by, state, left_to,
    is_step, attempts)
    where state = 'waiting' and left_to is null;

-- Until when the announcements of a window have been sent; null: it was changed since.
alter table maintenances add column announced bigint;

-- When the maintenance clock looks at a schedule next; null: its handovers are not announced.
alter table schedules add column next_at bigint;
-- The user who was on call when it last did; null: nobody.
alter table schedules add column on_call uuid;
create index schedules_next on schedules (next_at) where next_at is not null;

-- The only user who sees a notifier and is notified by it; null for those of the team. A node of
-- an earlier version lists none that is implicit, so these are.
alter table notifiers add column owner_id uuid references users (id) on delete cascade;
create index notifiers_owner on notifiers (owner_id) where owner_id is not null;

-- Notifiers of programs get every type of event.
update notifiers
set events = cast(cast(events as jsonb) || cast('["maintenance.scheduled", "maintenance.started",
    "maintenance.ended", "oncall.handover"]' as jsonb) as text)
where events like '%"notifier.test"%';
