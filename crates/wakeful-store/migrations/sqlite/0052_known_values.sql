-- Values that must not change.
alter table monitor_states add column known text; -- JSON: their hashes; null for most
