-- How a session was opened. A node of an earlier version leaves it out: a session with an
-- API key is always one that was opened with it.
alter table sessions add column method text not null default 'password';
update sessions set method = 'key' where api_key_id is not null;

-- When the user of a session last entered their credentials in it; null: when it was opened.
alter table sessions add column reauthenticated_at integer;

-- The policies of a team: whether its members need a second factor, after how many days its new
-- API keys expire at the latest (0: never), and whether people can have keys.
alter table teams add column mfa text not null default 'optional';
alter table teams add column key_days integer not null default 0;
alter table teams add column personal_keys integer not null default 1;
