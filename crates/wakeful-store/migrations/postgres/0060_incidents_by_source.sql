-- How many incidents of a team people and rules have written, and the oldest of them.
create index incidents_source on incidents (team_id, source, id);
