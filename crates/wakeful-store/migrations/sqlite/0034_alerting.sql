-- Alerts with a severity, a status and a state. The alert processor decides about those that are
-- due, from the row alone.
alter table monitors add column severity text not null default 'critical';

alter table alerts add column severity text not null default 'critical';
-- suppressed, open, acknowledged, snoozed, resolved or over; an alert with an end is over.
alter table alerts add column status text not null default 'open';
alter table alerts add column assignee blob;
-- When the alert processor decides about it again; null: when something happens.
alter table alerts add column due integer;
alter table alerts add column revision integer not null default 0;
alter table alerts add column state text not null default '{}'; -- JSON
-- The events that report it, until they are delivered; null: a version without the alert
-- processor has written the deliveries.
alter table alerts add column opened_event text; -- JSON
alter table alerts add column closed_event text; -- JSON

create index alerts_due on alerts (due) where due is not null;
create index alerts_open on alerts (team_id, id) where ended is null;

-- An expiring certificate is less urgent than an outage.
update alerts set severity = 'warning' where kind = 'certificate';

-- Everybody has been notified of open outages. Their reminders continue at the same time.
-- `remind_at` remains for nodes of the previous version, and for reminders at a new interval,
-- until the alert processor has read it.
update alerts
set state = json_object('notified', started, 'reminder_at', remind_at),
    due = remind_at, remind_at = null
where ended is null;

-- The timeline of an alert: what happened and who did what. Only ever added to.
create table alert_events (
    id blob primary key,
    team_id blob not null,
    alert_id blob not null references alerts (id) on delete cascade,
    at integer not null,
    kind text not null,
    user_id blob,
    via text not null,
    text text not null,
    data text -- JSON
) strict, without rowid;

create index alert_events_alert on alert_events (alert_id, id);

-- The types of events that a notifier receives; null: those that every version knows.
alter table notifiers add column events text; -- JSON
