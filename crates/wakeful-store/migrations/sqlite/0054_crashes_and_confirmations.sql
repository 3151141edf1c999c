-- Claims without an outcome, as they are counted in the other queues.
alter table audit_streams add column claims integer not null default 0;
alter table audit_streams add column claimed_by blob;
alter table statuspage_events add column claims integer not null default 0;
alter table statuspage_events add column claimed_by blob;
alter table threads add column claims integer not null default 0;
alter table threads add column claimed_by blob;
create index threads_claimed on threads (keepalive_at)
    where claims > 0 and keepalive_at is not null;

-- Emails that asked the owner of an address to confirm a subscription, whatever its kind.
create table confirmation_mails (
    recipient blob not null, -- keyed, of the address
    at integer not null
) strict;
create index confirmation_mails_recipient on confirmation_mails (recipient, at);
create index confirmation_mails_at on confirmation_mails (at);
alter table subscribers drop column confirmations;
alter table subscribers drop column confirmations_since;
