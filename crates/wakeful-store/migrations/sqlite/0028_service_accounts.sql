-- Service accounts: users without a password, for programs. They have API keys only.
alter table users add column kind text not null default 'person';

-- The address that last used a key.
alter table api_keys add column last_address text not null default '';
