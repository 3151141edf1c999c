-- The sizes of long request bodies, which a team can have a limited amount of.

create index monitors_long_requests on monitors (team_id, length(secret))
    where length(secret) > 16384;
