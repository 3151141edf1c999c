-- What hours and days came to lies in one table, together with what fortnights
-- came to: a year is then read from a few rows, and one table leaves fewer pages
-- half empty than three. Fortnights of the past are made when a monitor is
-- folded for the first time after this.

create table rollups (
    monitor_id uuid not null,
    grain bigint not null, -- 1: the hours of a day, 2: a day, 3: a fortnight
    at bigint not null, -- the day, or the first one of the fortnight
    data bytea not null -- see wakeful-core's history/rollup.rs
);

alter table rollups alter column data set storage external;

insert into rollups (monitor_id, grain, at, data)
select monitor_id, grain, at, data
from (select monitor_id, 1 as grain, at, data from hours
      union all
      select monitor_id, 2 as grain, at, data from days) known
order by at, monitor_id, grain;

create unique index rollups_place on rollups (monitor_id, grain, at);

drop table hours;
drop table days;
