-- The audit log. The entries of a team form a chain of hashes; see docs/audit.md.

create table audit (
    chain uuid not null,
    seq bigint not null,
    at bigint not null,
    action text not null,
    actor_kind text not null,
    actor_id text not null,
    via_kind text not null,
    via_id text not null,
    object_kind text not null,
    object_id text not null,
    object_name text not null,
    request text not null,
    changes text not null,
    -- What identifies a person, with its salt; both are null once it was erased.
    person text,
    salt bytea,
    person_hash bytea not null,
    hash bytea not null,
    primary key (chain, seq)
);

create index audit_actor on audit (actor_id);
create index audit_object on audit (object_id);
create index audit_at on audit (at);

-- The last entry of each chain, sealed, and the hash before the first one that is kept.
create table audit_heads (
    id uuid primary key,
    seq bigint not null,
    hash bytea not null,
    seal bytea,
    first_seq bigint not null,
    first_prev bytea not null
);

create function teams_audit() returns trigger language plpgsql as $$
begin
    delete from audit where chain = old.id;
    delete from audit_heads where id = old.id;
    return null;
end;
$$;

create trigger teams_audit after delete on teams
    for each row execute function teams_audit();
