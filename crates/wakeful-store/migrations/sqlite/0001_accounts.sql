-- Teams, users and everything that lets a user in. Times are milliseconds
-- since 1970, ids 16 bytes, digests SHA-256, `sealed` means under the keyring.

create table meta (
    name text primary key,
    value blob not null
) strict, without rowid;

create table teams (
    id blob primary key,
    created integer not null,
    modified integer not null
) strict, without rowid;

create table users (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    email text not null,
    email_key text not null,
    name text not null,
    password_hash text not null,
    mfa_seed blob, -- sealed
    mfa_enabled integer not null default 0,
    mfa_step integer not null default 0,
    mfa_failures integer not null default 0,
    mfa_locked_until integer not null default 0,
    created integer not null,
    modified integer not null
) strict, without rowid;

create unique index users_email_key on users (email_key);
create index users_team on users (team_id);

create table recovery_codes (
    user_id blob not null references users (id) on delete cascade,
    digest blob not null,
    primary key (user_id, digest)
) strict, without rowid;

create table sessions (
    id blob primary key,
    digest blob not null,
    user_id blob not null references users (id) on delete cascade,
    created integer not null,
    last_used integer not null
) strict, without rowid;

create unique index sessions_digest on sessions (digest);
create index sessions_user on sessions (user_id);
create index sessions_last_used on sessions (last_used);

create table api_keys (
    id blob primary key,
    digest blob not null,
    user_id blob not null references users (id) on delete cascade,
    name text not null,
    prefix text not null,
    stands_for blob not null, -- sealed under the Enc key, which is not kept
    created integer not null,
    last_used integer
) strict, without rowid;

create unique index api_keys_digest on api_keys (digest);
create index api_keys_user on api_keys (user_id);

create table resets (
    digest blob primary key,
    user_id blob not null references users (id) on delete cascade,
    expires integer not null
) strict, without rowid;

create unique index resets_user on resets (user_id);

create table limits (
    digest blob primary key,
    started integer not null,
    hits integer not null
) strict, without rowid;

create index limits_started on limits (started);

create table contacts (
    id blob primary key,
    name text not null,
    email text not null,
    subject text not null,
    message text not null,
    created integer not null
) strict, without rowid;

create table mails (
    id blob primary key,
    content blob not null, -- sealed
    created integer not null,
    attempts integer not null default 0,
    next_try integer, -- null: given up
    lease_until integer not null default 0,
    last_error text not null default ''
) strict, without rowid;

create index mails_next_try on mails (next_try);
