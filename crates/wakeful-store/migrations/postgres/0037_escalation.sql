-- Escalation policies, on-call schedules, routing, and how users are notified.
create table policies (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    name text not null,
    steps text not null, -- JSON
    repeat bigint not null,
    every bigint not null, -- seconds
    ack_timeout bigint not null, -- seconds; 0: never
    revision bigint not null default 0,
    created bigint not null,
    modified bigint not null
);

create index policies_team on policies (team_id, id);

alter table monitors add column policy_id uuid references policies (id);
create index monitors_policy on monitors (policy_id) where policy_id is not null;

create table schedules (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    name text not null,
    time_zone text not null,
    layers text not null, -- JSON
    announce text not null, -- JSON
    -- The digest of the token of its calendar feed; null: it has none.
    feed_digest bytea,
    revision bigint not null default 0,
    created bigint not null,
    modified bigint not null
);

create index schedules_team on schedules (team_id, id);
create unique index schedules_feed on schedules (feed_digest) where feed_digest is not null;

-- Somebody who takes over in a schedule for a while.
create table overrides (
    id uuid primary key,
    schedule_id uuid not null references schedules (id) on delete cascade,
    user_id uuid not null references users (id) on delete cascade,
    starts bigint not null,
    ends bigint not null,
    created_by uuid,
    created bigint not null
);

create index overrides_schedule on overrides (schedule_id, ends);
create index overrides_user on overrides (user_id);

-- The rules of a team that say who else is notified.
create table routing (
    team_id uuid primary key references teams (id) on delete cascade,
    rules text not null, -- JSON
    revision bigint not null,
    modified bigint not null
);

-- How a user is notified as a member of a team, and the calendar feed of the user's shifts.
create table contact_rules (
    user_id uuid not null references users (id) on delete cascade,
    team_id uuid not null references teams (id) on delete cascade,
    rules text, -- JSON; null: by email to the account, immediately
    feed_digest bytea,
    modified bigint not null,
    primary key (user_id, team_id)
);

create index contact_rules_team on contact_rules (team_id);
create unique index contact_rules_feed on contact_rules (feed_digest) where feed_digest is not null;

-- A personal notifier that nobody has created: it exists because the user had to be notified.
alter table notifiers add column implicit boolean not null default false;
alter table notifiers add column min_severity text not null default 'info';
alter table notifiers add column quiet text; -- JSON; null: no quiet hours

-- An escalation step: it is not sent after somebody has responded.
alter table deliveries add column is_step boolean not null default false;

-- Notifiers of programs get every type of event.
update notifiers
set events = cast(cast(events as jsonb) || cast('["alert.escalated"]' as jsonb) as text)
where events is not null;
