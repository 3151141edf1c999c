-- Where a session was opened from, so that its owner can tell it from others
-- in a list. Both go with the session.

alter table sessions add column address text not null default '';
alter table sessions add column agent text not null default '';
