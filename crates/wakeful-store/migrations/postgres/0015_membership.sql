-- How many days of history a team keeps by its plan; null: all of them, because
-- no plan has limited it yet. A smaller plan counts from history_fall_at on,
-- and the team is told before.
alter table teams add column history_days bigint;
alter table teams add column history_fall_days bigint;
alter table teams add column history_fall_at bigint;
