-- A person can be a member of several teams. `users.team_id` is the team that a login starts in.

alter table teams add column name text not null default '';

update teams set name = coalesce((
    select coalesce(nullif(trim(u.name), ''), substr(u.email, 1, instr(u.email, '@') - 1))
    from users u
    where u.team_id = teams.id and u.kind = 'person'
    order by u.id
    limit 1), '');

-- The team that may change the address and the password of an account, which may be deleted by
-- now; all zeros: nobody but its holder.
alter table users add column managed_by blob;
update users set managed_by = team_id;

-- A node of an earlier version knows nothing of it, and neither of the teams of keys.
create trigger users_managed_by after insert on users
    when new.managed_by is null
begin
    update users set managed_by = new.team_id where id = new.id;
end;

-- The team that a session acts in; null: the one that a login starts in.
alter table sessions add column team_id blob references teams (id) on delete set null;
create index sessions_team on sessions (team_id) where team_id is not null;

-- The team that a key acts in.
alter table api_keys add column team_id blob references teams (id) on delete cascade;
update api_keys set team_id = (select u.team_id from users u where u.id = api_keys.user_id);
create index api_keys_team on api_keys (team_id);

create trigger api_keys_team after insert on api_keys when new.team_id is null
begin
    update api_keys set team_id = (select u.team_id from users u where u.id = new.user_id)
    where id = new.id;
end;

-- A person has at most one personal notifier in each team.
drop index notifiers_user;
create unique index notifiers_user on notifiers (user_id, team_id) where user_id is not null;

create table invitations (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    email text not null,
    email_key text not null,
    role text not null,
    filter_id blob references monitor_filters (id),
    digest blob not null,
    -- Whether the link was mailed, so that nobody but the holder of the address has it.
    mailed integer not null,
    invited_by blob references users (id) on delete set null,
    created integer not null,
    expires integer not null
) strict, without rowid;

create unique index invitations_email on invitations (team_id, email_key);
create unique index invitations_digest on invitations (digest);
create index invitations_expires on invitations (expires);
create index invitations_invited_by on invitations (invited_by);

create trigger invitations_filter after delete on invitations when old.filter_id is not null
begin
    delete from monitor_filters where id = old.filter_id;
end;

-- People and invitations whose data are to be erased from the audit log, and teams whose logs are
-- to be deleted. It may be a lot, so it is done in parts.
create table audit_erasures (id text primary key) strict, without rowid;
create table audit_graves (id blob primary key) strict, without rowid;

drop trigger teams_audit;
create trigger teams_audit after delete on teams
begin
    delete from audit_heads where id = old.id;
    insert or ignore into audit_graves (id) values (old.id);
end;

-- The search for due deliveries reads them all, so it must not read their bodies.
drop index deliveries_next_try;
create index deliveries_next_try on deliveries (next_try, lease_until, team_id, notifier_id,
    monitor_id, sequence, created, claims, claimed_by) where next_try is not null;

-- Sign-ups whose address must be verified before the account is created.
create table pending_signups (
    digest blob primary key,
    email text not null,
    email_key text not null,
    name text not null,
    password_hash text not null,
    expires integer not null
) strict, without rowid;

create index pending_signups_email on pending_signups (email_key);
create index pending_signups_expires on pending_signups (expires);
