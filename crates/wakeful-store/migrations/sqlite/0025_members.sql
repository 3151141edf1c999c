-- The members of a team with their roles. Everyone who was in a team before could do
-- everything, and becomes an owner.

create table members (
    team_id blob not null references teams (id) on delete cascade,
    user_id blob not null references users (id) on delete cascade,
    role text not null,
    suspended_at integer,
    created integer not null,
    modified integer not null,
    primary key (team_id, user_id)
) strict, without rowid;

create index members_user on members (user_id);

-- The role of new members, unless another one is given.
alter table teams add column default_role text not null default 'owner';

insert into members (team_id, user_id, role, created, modified)
select team_id, id, 'owner', created, created from users;

-- A node of an earlier version knows nothing of members.
create trigger users_members after insert on users
begin
    insert into members (team_id, user_id, role, created, modified)
    values (new.team_id, new.id, 'owner', new.created, new.created);
end;

-- What an API key may do at most. The binding value is sealed under the Enc key.
alter table api_keys add column scope text not null default 'full';
-- The scope of the API key that the session was opened with.
alter table sessions add column scope text not null default 'full';
