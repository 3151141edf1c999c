-- When a notifier failed last: a failure after a long silence begins a new count.
alter table notifiers add column failed_at bigint;
