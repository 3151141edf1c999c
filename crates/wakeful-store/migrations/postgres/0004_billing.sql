-- Membership and payment. Nothing here is secret: of a card only what may be
-- printed on a receipt is kept, under the processor's own id for it.

create table payment_customers (
    team_id uuid primary key references teams (id) on delete cascade,
    processor text not null,
    reference text not null
);

create table payment_methods (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    processor text not null,
    reference text not null,
    last4 text not null,
    expiry_month bigint not null,
    expiry_year bigint not null,
    cardholder_name text not null,
    isdefault boolean not null default false,
    ready boolean not null default false, -- false: not attached yet, seen by nobody
    created bigint not null
);

create index payment_methods_team on payment_methods (team_id, id);
create unique index payment_methods_default on payment_methods (team_id) where isdefault;
create unique index payment_methods_reference on payment_methods (reference);

-- What is to be removed at the processor. Filled by the triggers, so that
-- nothing is forgotten when a whole team goes.
create table payment_removals (
    reference text primary key,
    processor text not null,
    kind text not null, -- method, customer
    tries bigint not null default 0,
    next_try bigint not null default 0,
    lease_until bigint not null default 0
);

create function remove_at_processor() returns trigger language plpgsql as $$
begin
    insert into payment_removals (reference, processor, kind)
    values (old.reference, old.processor, tg_argv[0]) on conflict do nothing;
    return null;
end $$;

create trigger payment_methods_removals after delete on payment_methods
for each row execute function remove_at_processor('method');

create trigger payment_customers_removals after delete on payment_customers
for each row execute function remove_at_processor('customer');

create table memberships (
    team_id uuid primary key references teams (id) on delete cascade,
    id uuid not null,
    plan text not null, -- its id; none when it ended
    state text not null, -- JSON
    method_id uuid references payment_methods (id) on delete set null,
    due bigint, -- null: nothing is to be done
    lease_until bigint not null default 0,
    over_since bigint, -- since when more is used than the plan allows
    revision bigint not null,
    created bigint not null,
    modified bigint not null
);

create index memberships_due on memberships (due) where due is not null;
create index memberships_method on memberships (method_id);

create table invoices (
    id uuid primary key,
    team_id uuid not null references teams (id) on delete cascade,
    serial bigint not null, -- counts within the team
    plan text not null,
    period_from bigint not null,
    period_until bigint not null,
    price bigint not null, -- cents, as the next two
    credit bigint not null,
    amount bigint not null,
    state text not null, -- open, paid, void
    note text not null,
    last4 text not null,
    created bigint not null,
    paid bigint
);

create unique index invoices_serial on invoices (team_id, serial);
create unique index invoices_open on invoices (team_id) where state = 'open';
-- The last line of defence against charging a period twice.
create unique index invoices_period on invoices (team_id, plan, period_from)
    where state <> 'void';

-- One try to move money. It outlives its team: money that was moved for a team
-- that went meanwhile is given back.
create table payment_attempts (
    id uuid primary key, -- also the key for the processor
    team_id uuid not null,
    method_id uuid not null,
    by_person boolean not null,
    processor text not null,
    customer text not null,
    reference text not null,
    last4 text not null,
    charge text not null, -- JSON
    state text not null, -- waiting, paid, declined, refund, refunded
    receipt text not null default '', -- the processor's id of the charge
    tries bigint not null default 0,
    next_try bigint not null,
    lease_until bigint not null,
    created bigint not null
);

create unique index payment_attempts_open on payment_attempts (team_id) where state = 'waiting';
create index payment_attempts_next on payment_attempts (next_try)
    where state in ('waiting', 'refund');
