-- How PostgreSQL looks after the past. Of packed bytes statistics say nothing,
-- and samples of them take more room than the figures of a monitor. Blocks and
-- roll-ups are cleaned up when a fiftieth of them is dead, not a fifth, so that
-- the room is used again soon.

alter table blocks alter column data set statistics 0;
alter table blocks alter column phases set statistics 0;
alter table blocks alter column regions set statistics 0;
alter table rollups alter column data set statistics 0;
alter table heartbeats alter column phases set statistics 0;
alter table heartbeats alter column regions set statistics 0;

alter table blocks set (
    autovacuum_vacuum_scale_factor = 0.02,
    toast.autovacuum_vacuum_scale_factor = 0.02
);

alter table rollups set (autovacuum_vacuum_scale_factor = 0.02);

-- Whose phases are old enough to go is found without a look at blocks that have
-- none any more.
create index blocks_phases on blocks (monitor_id, from_at) where phases is not null;
