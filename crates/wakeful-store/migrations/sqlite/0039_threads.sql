-- The reference of an external service to the first message about an alert.
create table threads (
    alert_id blob not null references alerts (id) on delete cascade,
    notifier_id blob not null references notifiers (id) on delete cascade,
    ref text not null, -- JSON
    primary key (alert_id, notifier_id)
) strict, without rowid;

create index threads_notifier on threads (notifier_id);
