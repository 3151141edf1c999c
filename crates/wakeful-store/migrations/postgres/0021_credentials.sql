-- A session that was opened with an API key ends with the key, and a reset link
-- works only for the address it was mailed to.

alter table sessions add column api_key_id uuid references api_keys (id) on delete cascade;
create index sessions_api_key on sessions (api_key_id) where api_key_id is not null;

alter table resets add column email_key text not null default '';
update resets set email_key = (select users.email_key from users where users.id = resets.user_id);
