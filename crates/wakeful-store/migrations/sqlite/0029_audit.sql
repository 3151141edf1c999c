-- The audit log. The entries of a team form a chain of hashes; see docs/audit.md.

create table audit (
    chain blob not null,
    seq integer not null,
    at integer not null,
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
    salt blob,
    person_hash blob not null,
    hash blob not null,
    primary key (chain, seq)
) strict, without rowid;

create index audit_actor on audit (actor_id);
create index audit_object on audit (object_id);
create index audit_at on audit (at);

-- The last entry of each chain, sealed, and the hash before the first one that is kept.
create table audit_heads (
    id blob primary key,
    seq integer not null,
    hash blob not null,
    seal blob, -- sealed
    first_seq integer not null,
    first_prev blob not null
) strict, without rowid;

create trigger teams_audit after delete on teams
begin
    delete from audit where chain = old.id;
    delete from audit_heads where id = old.id;
end;
