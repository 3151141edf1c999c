-- Where monitors are checked from, how many places must agree, and which
-- probes are believed no longer.

alter table monitors add column regions text not null default '["local"]'; -- JSON array
alter table monitors add column quorum text not null default 'majority';

-- What each region saw, a JSON array; null when only the owner looked.
alter table heartbeats add column regions text;
alter table blocks add column regions bytea;

create table revoked_probes (
    name text primary key,
    at bigint not null
);
