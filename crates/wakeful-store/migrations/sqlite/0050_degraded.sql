-- When a monitor that is up counts as degraded, its objective, and numbers that checks measure.
alter table monitors add column degraded text; -- JSON; null for none
alter table monitors add column slo text; -- JSON; null for none
alter table monitor_states add column degraded text; -- JSON: the last checks; null for most
alter table monitor_states add column baseline text; -- JSON: the usual times; null for most
alter table heartbeats add column readings text; -- JSON; null for most
alter table blocks add column readings blob; -- null for most
