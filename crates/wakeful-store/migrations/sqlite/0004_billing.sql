-- Membership and payment. Nothing here is secret: of a card only what may be
-- printed on a receipt is kept, under the processor's own id for it.

create table payment_customers (
    team_id blob primary key references teams (id) on delete cascade,
    processor text not null,
    reference text not null
) strict, without rowid;

create table payment_methods (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    processor text not null,
    reference text not null,
    last4 text not null,
    expiry_month integer not null,
    expiry_year integer not null,
    cardholder_name text not null,
    isdefault integer not null default 0,
    ready integer not null default 0, -- 0: not attached yet, seen by nobody
    created integer not null
) strict, without rowid;

create index payment_methods_team on payment_methods (team_id, id);
create unique index payment_methods_default on payment_methods (team_id) where isdefault;
create unique index payment_methods_reference on payment_methods (reference);

-- What is to be removed at the processor. Filled by the triggers, so that
-- nothing is forgotten when a whole team goes.
create table payment_removals (
    reference text primary key,
    processor text not null,
    kind text not null, -- method, customer
    tries integer not null default 0,
    next_try integer not null default 0,
    lease_until integer not null default 0
) strict, without rowid;

create trigger payment_methods_removals after delete on payment_methods
begin
    insert into payment_removals (reference, processor, kind)
    values (old.reference, old.processor, 'method') on conflict do nothing;
end;

create trigger payment_customers_removals after delete on payment_customers
begin
    insert into payment_removals (reference, processor, kind)
    values (old.reference, old.processor, 'customer') on conflict do nothing;
end;

create table memberships (
    team_id blob primary key references teams (id) on delete cascade,
    id blob not null,
    plan text not null, -- its id; none when it ended
    state text not null, -- JSON
    method_id blob references payment_methods (id) on delete set null,
    due integer, -- null: nothing is to be done
    lease_until integer not null default 0,
    over_since integer, -- since when more is used than the plan allows
    revision integer not null,
    created integer not null,
    modified integer not null
) strict, without rowid;

create index memberships_due on memberships (due) where due is not null;
create index memberships_method on memberships (method_id);

create table invoices (
    id blob primary key,
    team_id blob not null references teams (id) on delete cascade,
    serial integer not null, -- counts within the team
    plan text not null,
    period_from integer not null,
    period_until integer not null,
    price integer not null, -- cents, as the next two
    credit integer not null,
    amount integer not null,
    state text not null, -- open, paid, void
    note text not null,
    last4 text not null,
    created integer not null,
    paid integer
) strict, without rowid;

create unique index invoices_serial on invoices (team_id, serial);
create unique index invoices_open on invoices (team_id) where state = 'open';
-- The last line of defence against charging a period twice.
create unique index invoices_period on invoices (team_id, plan, period_from)
    where state <> 'void';

-- One try to move money. It outlives its team: money that was moved for a team
-- that went meanwhile is given back.
create table payment_attempts (
    id blob primary key, -- also the key for the processor
    team_id blob not null,
    method_id blob not null,
    by_person integer not null,
    processor text not null,
    customer text not null,
    reference text not null,
    last4 text not null,
    charge text not null, -- JSON
    state text not null, -- waiting, paid, declined, refund, refunded
    receipt text not null default '', -- the processor's id of the charge
    tries integer not null default 0,
    next_try integer not null,
    lease_until integer not null,
    created integer not null
) strict, without rowid;

create unique index payment_attempts_open on payment_attempts (team_id) where state = 'waiting';
create index payment_attempts_next on payment_attempts (next_try)
    where state in ('waiting', 'refund');
