-- How often a notifier was changed: a change names the revision it was made from,
-- so that of two at once neither undoes the other.
alter table notifiers add column revision bigint not null default 1;
