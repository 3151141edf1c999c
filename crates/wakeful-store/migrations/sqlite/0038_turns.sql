-- Teams take turns: the alerts of a team that are due.
create index alerts_team_due on alerts (team_id, due) where due is not null;

-- What waits, queue by queue, those of a team together. The search for due deliveries reads the
-- first of each queue here, and nothing of those behind it.
drop index deliveries_waiting;
create index deliveries_waiting on deliveries (team_id, notifier_id, monitor_id, sequence, id,
    next_try, lease_until, created, claims, claimed_by, state, left_to,
    is_step, attempts)
    where state = 'waiting' and left_to is null;

-- Mails that some recipients still need, which are in no queue.
create index deliveries_left_to on deliveries (state, next_try) where left_to is not null;

drop index deliveries_next_try;
create index deliveries_next_try on deliveries (next_try) where next_try is not null;
