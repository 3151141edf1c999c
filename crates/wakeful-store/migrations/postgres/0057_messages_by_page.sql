-- Which pages have messages to subscribers that wait, and the first ones of each.
create index statuspage_deliveries_page on statuspage_deliveries (queue, page_id, next_try)
    where next_try is not null;
