-- Claims without an outcome: so many processes claimed the row, one after the other,
-- and ended before they wrote down what came of it. Reset by every outcome.

alter table deliveries add column claims integer not null default 0;
alter table mails add column claims integer not null default 0;
