-- The browsers of users that receive push messages.
create table push_subscriptions (
    id uuid primary key,
    user_id uuid not null references users (id) on delete cascade,
    digest bytea not null, -- of the endpoint
    endpoint bytea not null, -- sealed
    keys bytea not null, -- sealed
    agent text not null,
    created bigint not null,
    last_used bigint
);

create unique index push_subscriptions_user on push_subscriptions (user_id, digest);

-- All browsers of a user get the messages of one notifier.
create unique index notifiers_webpush on notifiers (owner_id, team_id) where kind = 'webpush';
