-- The browsers of users that receive push messages.
create table push_subscriptions (
    id blob primary key,
    user_id blob not null references users (id) on delete cascade,
    digest blob not null, -- of the endpoint
    endpoint blob not null, -- sealed
    keys blob not null, -- sealed
    agent text not null,
    created integer not null,
    last_used integer
) strict, without rowid;

create unique index push_subscriptions_user on push_subscriptions (user_id, digest);

-- All browsers of a user get the messages of one notifier.
create unique index notifiers_webpush on notifiers (owner_id, team_id) where kind = 'webpush';
