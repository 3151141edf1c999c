-- Claims without an outcome, as they are counted in the other queues.
alter table audit_streams add column claims bigint not null default 0;
alter table audit_streams add column claimed_by uuid;
alter table statuspage_events add column claims bigint not null default 0;
alter table statuspage_events add column claimed_by uuid;
alter table threads add column claims bigint not null default 0;
alter table threads add column claimed_by uuid;
create index threads_claimed on threads (keepalive_at)
    where claims > 0 and keepalive_at is not null;
