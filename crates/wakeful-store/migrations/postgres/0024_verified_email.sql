-- When the user verified the address, by a link that was mailed to it; null: not yet.
alter table users add column email_verified bigint;

-- The links that verify an address. A user may have several; the first one that is used
-- deletes the others.
create table verifications (
    digest bytea primary key,
    user_id uuid not null references users (id) on delete cascade,
    email_key text not null, -- the address that the link was mailed to
    expires bigint not null
);

create index verifications_user on verifications (user_id);
create index verifications_expires on verifications (expires);

-- Whether a reset link was mailed, and not printed at the command line: only a mailed one
-- verifies the address.
alter table resets add column mailed boolean not null default false;

-- The user of a personal notifier, who has at most one; null for the team's notifiers.
alter table notifiers add column user_id uuid references users (id) on delete cascade;
create unique index notifiers_user on notifiers (user_id) where user_id is not null;
