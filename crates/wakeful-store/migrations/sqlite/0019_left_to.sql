-- A mail may be taken for some of its recipients while others are put off. Those
-- are told later, and nobody waits for them: the row no longer stands in its line.

alter table deliveries add column left_to text; -- JSON; null: everybody

drop index deliveries_waiting;
create index deliveries_waiting on deliveries (monitor_id, notifier_id, sequence, id)
    where state = 'waiting' and left_to is null;
