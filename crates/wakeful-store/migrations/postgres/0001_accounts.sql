-- Teams, users and everything that lets a user in. Times are milliseconds
-- since 1970, digests SHA-256, `sealed` means under the keyring.

create table meta (
    name text primary key,
    value bytea not null
);

create table teams (
    id uuid primary key,
    created bigint not null,
    modified bigint not null
);

create table users (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    email text not null,
    email_key text not null,
    name text not null,
    password_hash text not null,
    mfa_seed bytea, -- sealed
    mfa_enabled boolean not null default false,
    mfa_step bigint not null default 0,
    mfa_failures bigint not null default 0,
    mfa_locked_until bigint not null default 0,
    created bigint not null,
    modified bigint not null
);

create unique index users_email_key on users (email_key);
create index users_team on users (team_id);

create table recovery_codes (
    user_id uuid not null references users (id) on delete cascade,
    digest bytea not null,
    primary key (user_id, digest)
);

create table sessions (
    id uuid primary key,
    digest bytea not null,
    user_id uuid not null references users (id) on delete cascade,
    created bigint not null,
    last_used bigint not null
);

create unique index sessions_digest on sessions (digest);
create index sessions_user on sessions (user_id);
create index sessions_last_used on sessions (last_used);

create table api_keys (
    id uuid primary key,
    digest bytea not null,
    user_id uuid not null references users (id) on delete cascade,
    name text not null,
    prefix text not null,
    stands_for bytea not null, -- sealed under the Enc key, which is not kept
    created bigint not null,
    last_used bigint
);

create unique index api_keys_digest on api_keys (digest);
create index api_keys_user on api_keys (user_id);

create table resets (
    digest bytea primary key,
    user_id uuid not null references users (id) on delete cascade,
    expires bigint not null
);

create unique index resets_user on resets (user_id);

create table limits (
    digest bytea primary key,
    started bigint not null,
    hits bigint not null
);

create index limits_started on limits (started);

create table contacts (
    id uuid primary key,
    name text not null,
    email text not null,
    subject text not null,
    message text not null,
    created bigint not null
);

create table mails (
    id uuid primary key,
    content bytea not null, -- sealed
    created bigint not null,
    attempts bigint not null default 0,
    next_try bigint, -- null: given up
    lease_until bigint not null default 0,
    last_error text not null default ''
);

create index mails_next_try on mails (next_try);
