-- When the message of a thread has to be sent again; null: never. An Alertmanager ends an alert
-- that it does not hear of.
alter table threads add column keepalive_at bigint;
create index threads_keepalive on threads (notifier_id, keepalive_at)
    where keepalive_at is not null;

-- The groups that an Alertmanager reports as firing. The monitor is down while there is one.
create table inbound (
    monitor_id uuid not null references monitors (id) on delete cascade,
    key text not null,
    text text not null,
    since bigint not null,
    seen bigint not null, -- when it was last reported
    primary key (monitor_id, key)
);
