-- Since when a notifier has done nothing but fail; null after a success.
alter table notifiers add column failing_since bigint;

-- What waits, line by line: whether something stands before it is looked up here.
create index deliveries_waiting on deliveries (monitor_id, notifier_id, sequence, id)
    where state = 'waiting';

-- When mails went to whom, so that no inbox is flooded. Minutes old, it goes.
create table sent_mails (
    recipient bytea not null, -- a digest
    at bigint not null
);

create index sent_mails_recipient on sent_mails (recipient, at);
create index sent_mails_at on sent_mails (at);
