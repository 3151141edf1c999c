-- A person can be a member of several teams. `users.team_id` is the team that a login starts in.

alter table teams add column name text not null default '';

update teams set name = coalesce((
    select coalesce(nullif(trim(u.name), ''), split_part(u.email, '@', 1))
    from users u
    where u.team_id = teams.id and u.kind = 'person'
    order by u.id
    limit 1), '');

-- The team that may change the address and the password of an account, which may be deleted by
-- now; all zeros: nobody but its holder.
alter table users add column managed_by uuid;
update users set managed_by = team_id;

-- A node of an earlier version knows nothing of it, and neither of the teams of keys.
create function set_managed_by() returns trigger language plpgsql as $$
begin
    update users set managed_by = new.team_id where id = new.id;
    return null;
end $$;

create trigger users_managed_by after insert on users
for each row when (new.managed_by is null)
execute function set_managed_by();

-- The team that a session acts in; null: the one that a login starts in.
alter table sessions add column team_id uuid references teams (id) on delete set null;
create index sessions_team on sessions (team_id) where team_id is not null;

-- The team that a key acts in.
alter table api_keys add column team_id uuid references teams (id) on delete cascade;
update api_keys set team_id = (select u.team_id from users u where u.id = api_keys.user_id);
create index api_keys_team on api_keys (team_id);

create function set_api_key_team() returns trigger language plpgsql as $$
begin
    update api_keys set team_id = (select u.team_id from users u where u.id = new.user_id)
    where id = new.id;
    return null;
end $$;

create trigger api_keys_team after insert on api_keys
for each row when (new.team_id is null) execute function set_api_key_team();

-- A person has at most one personal notifier in each team.
drop index notifiers_user;
create unique index notifiers_user on notifiers (user_id, team_id) where user_id is not null;

create table invitations (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    email text not null,
    email_key text not null,
    role text not null,
    filter_id uuid references monitor_filters (id),
    digest bytea not null,
    -- Whether the link was mailed, so that nobody but the holder of the address has it.
    mailed boolean not null,
    invited_by uuid references users (id) on delete set null,
    created bigint not null,
    expires bigint not null
);

create unique index invitations_email on invitations (team_id, email_key);
create unique index invitations_digest on invitations (digest);
create index invitations_expires on invitations (expires);
create index invitations_invited_by on invitations (invited_by);

create trigger invitations_filter after delete on invitations
for each row when (old.filter_id is not null) execute function delete_monitor_filter();

-- People and invitations whose data are to be erased from the audit log, and teams whose logs are
-- to be deleted. It may be a lot, so it is done in parts.
create table audit_erasures (id text primary key);
create table audit_graves (id uuid primary key);

create or replace function teams_audit() returns trigger language plpgsql as $$
begin
    delete from audit_heads where id = old.id;
    insert into audit_graves (id) values (old.id) on conflict do nothing;
    return null;
end;
$$;

-- Sign-ups whose address must be verified before the account is created.
create table pending_signups (
    digest bytea primary key,
    email text not null,
    email_key text not null,
    name text not null,
    password_hash text not null,
    expires bigint not null
);

create index pending_signups_email on pending_signups (email_key);
create index pending_signups_expires on pending_signups (expires);
