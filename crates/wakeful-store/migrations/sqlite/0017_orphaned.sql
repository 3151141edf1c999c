-- Until when the holder was to live from whom a slot was taken because it had
-- died, in the database's time; null: it was given back. Whoever takes the slot
-- knows from it since when nobody has listened to reports.
alter table slots add column orphaned integer;
