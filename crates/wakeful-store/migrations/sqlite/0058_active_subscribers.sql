-- How many receive the messages of a page.
create index subscribers_active on subscribers (page_id) where state = 'active';
