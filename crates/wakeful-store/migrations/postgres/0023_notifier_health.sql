-- The recipients of a mail that its server has not accepted, with its replies.
alter table deliveries add column recipients text; -- JSON; null: no mail, or none was tried

-- Since when a notifier has delivered without a failure; null after a failure, and
-- before the first message.
alter table notifiers add column healthy_since bigint;
-- The response to the latest failed attempt; empty after a success.
alter table notifiers add column last_error text not null default '';
-- Whether new monitors use the notifier unless they name their own.
alter table notifiers add column isdefault boolean not null default false;

update notifiers
set healthy_since = (
    select max(d.finished)
    from deliveries d
    where d.notifier_id = notifiers.id and d.state = 'delivered')
where failing_since is null;

update notifiers
set last_error = coalesce((
    select d.last_answer
    from deliveries d
    where d.notifier_id = notifiers.id and d.state <> 'delivered' and d.last_answer <> ''
    order by d.id desc
    limit 1), '')
where failing_since is not null;
