-- Whose phases are old enough to go is found without a look at blocks that have
-- none any more.
create index blocks_phases on blocks (monitor_id, from_at) where phases is not null;
