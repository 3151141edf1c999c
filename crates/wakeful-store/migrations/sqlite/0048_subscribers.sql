-- Who is notified of the updates on a status page.
create table subscribers (
    id blob primary key,
    page_id blob not null references statuspages (id) on delete cascade,
    kind text not null, -- email, webhook, slack, discord or teams
    digest blob not null, -- keyed, of the kind and the address
    address blob, -- sealed
    secret blob, -- sealed
    state text not null, -- pending, active, bouncing or unsubscribed
    source text not null, -- self, team or import
    settings text not null, -- JSON: what it receives, and how
    token blob, -- digest of the token that confirms it
    token_until integer, -- until when
    -- Emails that asked for a confirmation since then.
    confirmations integer not null default 0,
    confirmations_since integer not null default 0,
    created integer not null,
    confirmed integer,
    ended integer, -- when it was unsubscribed; its address is null since
    last_delivery integer,
    failures integer not null default 0 -- permanent rejections in a row
) strict, without rowid;

create unique index subscribers_digest on subscribers (digest, page_id);
create index subscribers_page on subscribers (page_id, id);
create index subscribers_token on subscribers (token) where token is not null;
create index subscribers_pending on subscribers (token_until) where state = 'pending';
create index subscribers_ended on subscribers (ended) where ended is not null;

-- What subscribers are notified of, written with the update that it is about.
create table statuspage_events (
    id blob primary key,
    page_id blob not null references statuspages (id) on delete cascade,
    incident_id blob not null references incidents (id) on delete cascade,
    update_id blob not null references incident_updates (id) on delete cascade,
    type text not null,
    sequence integer not null, -- the order among the events of the incident
    created integer not null,
    -- Writing the deliveries: who does it until when, and the last subscriber that has one.
    lease_until integer not null default 0,
    progress blob,
    completed integer
) strict, without rowid;

create index statuspage_events_open on statuspage_events (id) where completed is null;
create index statuspage_events_incident on statuspage_events (incident_id);
create index statuspage_events_update on statuspage_events (update_id);
create index statuspage_events_page on statuspage_events (page_id);

-- One row for each event and subscriber. A queue of its own: it never delays an alert.
create table statuspage_deliveries (
    event_id blob not null references statuspage_events (id) on delete cascade,
    subscriber_id blob not null references subscribers (id) on delete cascade,
    incident_id blob not null,
    sequence integer not null,
    page_id blob not null,
    queue text not null, -- mail (the service's own) or remote
    state text not null, -- waiting, delivered or failed
    message blob, -- the first event of the email that it was sent with
    attempts integer not null default 0,
    next_try integer, -- null when nothing is to be sent
    lease_until integer not null default 0,
    claims integer not null default 0,
    claimed_by blob,
    last_answer text not null default '',
    created integer not null,
    finished integer,
    primary key (subscriber_id, event_id)
) strict, without rowid;

create index statuspage_deliveries_due on statuspage_deliveries (queue, next_try)
    where next_try is not null;
create index statuspage_deliveries_event on statuspage_deliveries (event_id, state);
