-- Since when a team uses more than its plan allows. It stands with the team,
-- because one that never had a membership has a plan all the same: None.
alter table teams add column over_since integer;

update teams set over_since = (
    select m.over_since from memberships m where m.team_id = teams.id);

alter table memberships drop column over_since;
