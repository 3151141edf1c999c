-- The reference of an external service to the first message about an alert.
create table threads (
    alert_id uuid not null references alerts (id) on delete cascade,
    notifier_id uuid not null references notifiers (id) on delete cascade,
    ref text not null, -- JSON
    primary key (alert_id, notifier_id)
);

create index threads_notifier on threads (notifier_id);
