-- The message that a delivery is a part of, by the id of its first delivery: what was sent
-- together is sent together again. Null while it is sent separately.
alter table deliveries add column digest blob;
create index deliveries_digest on deliveries (digest) where digest is not null;

-- How long a message of a notifier waits for others, in seconds.
alter table notifiers add column group_wait integer not null default 0;
