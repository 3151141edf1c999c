-- How often people are told again while a monitor is down; 0: they are not.
alter table monitors add column resend_interval integer not null default 0; -- seconds

-- When the notifiers are reminded of this outage; null: they are not.
alter table alerts add column remind_at integer;

create index alerts_remind_at on alerts (remind_at) where remind_at is not null;
