-- Whether the last check could not be performed, for instance because the egress policy
-- denies the address; `last_message` is the reason.

alter table monitor_states add column blocked integer not null default 0;
