-- For a message that waits for the end of quiet hours: when it would be sent without them.
alter table deliveries add column held_from bigint;
