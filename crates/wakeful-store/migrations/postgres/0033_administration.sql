-- The administration of the installation.

alter table users add column is_admin boolean not null default false;
-- Since when the user cannot sign in.
alter table users add column suspended_at bigint;
-- To the minute, in a session.
alter table users add column last_seen bigint;
update users set last_seen = (select max(s.last_used) from sessions s where s.user_id = users.id);
create index users_admin on users (id) where is_admin;

-- Since when the checks of the team are paused, and when they were last resumed: silence
-- before that proves nothing.
alter table teams add column suspended_at bigint;
alter table teams add column resumed_at bigint;
create index teams_suspended on teams (id)
    where suspended_at is not null or resumed_at is not null;

-- The first person of an empty installation administers it: the one who inserts this row.
update users set is_admin = true
where kind = 'person' and (select count(*) from users where kind = 'person') = 1;
insert into meta (name, value)
select 'first_admin', '\x00' where exists (select 1 from users where kind = 'person');

create function delete_first_admin() returns trigger language plpgsql as $$
begin
    delete from meta where name = 'first_admin'
    and not exists (select 1 from users where kind = 'person');
    return null;
end $$;

create trigger users_first_admin after delete on users
for each statement execute function delete_first_admin();

create index contacts_email on contacts (lower(email));
-- SQLite's index contains the primary key anyway.
drop index audit_actor;
create index audit_actor on audit (actor_id, chain, seq);
