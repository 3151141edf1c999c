-- A team that was deleted, whose rows are deleted in parts. Nobody sees it any more. Deleted
-- monitors and notifiers are moved to such a team.
alter table teams add column deleted_at bigint;
create index teams_deleted on teams (id) where deleted_at is not null;

-- How much the entries of a chain take up: the oldest are deleted when it is too much.
alter table audit add column bytes bigint not null default 0;
alter table audit_heads add column bytes bigint not null default 0;
update audit set bytes = length(changes) + coalesce(length(person), 0);
update audit_heads set bytes = coalesce((
    select sum(a.bytes) from audit a where a.chain = audit_heads.id), 0);
