-- When the user verified the address, by a link that was mailed to it; null: not yet.
alter table users add column email_verified integer;

-- The links that verify an address. A user may have several; the first one that is used
-- deletes the others.
create table verifications (
    digest blob primary key,
    user_id blob not null references users (id) on delete cascade,
    email_key text not null, -- the address that the link was mailed to
    expires integer not null
) strict, without rowid;

create index verifications_user on verifications (user_id);
create index verifications_expires on verifications (expires);

-- Whether a reset link was mailed, and not printed at the command line: only a mailed one
-- verifies the address.
alter table resets add column mailed integer not null default 0;

-- The user of a personal notifier, who has at most one; null for the team's notifiers.
alter table notifiers add column user_id blob references users (id) on delete cascade;
create unique index notifiers_user on notifiers (user_id) where user_id is not null;
