-- The record of a domain is looked up every day; its team is notified once when it is gone.
alter table statuspage_domains add column checked bigint; -- when it was last looked up
alter table statuspage_domains add column lost bigint; -- since when it is gone
