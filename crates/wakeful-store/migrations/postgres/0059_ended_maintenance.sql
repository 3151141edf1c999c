-- When the last occurrence of a window ended, which may have been ended early or extended.
alter table maintenances add column ended_at bigint;
