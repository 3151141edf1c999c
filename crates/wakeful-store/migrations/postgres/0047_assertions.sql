-- Assertions on the results of checks, why an outage began, and what its checks saw.
alter table monitors add column assertions text; -- JSON; null for none
alter table monitors add column evidence text; -- how much is stored; null for all of it
alter table alerts add column reason text; -- null if it is not known

create table evidence (
    id uuid primary key,
    monitor_id uuid not null references monitors (id) on delete cascade,
    alert_id uuid, -- null for a failure that was not confirmed
    kind text not null, -- which check of an outage it is of
    at bigint not null,
    data bytea not null -- sealed
);
create index evidence_of_monitor on evidence (monitor_id, at);
create index evidence_of_alert on evidence (alert_id) where alert_id is not null;
create index evidence_by_time on evidence (at);
