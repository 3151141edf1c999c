CREATE FUNCTION public.add_member() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into members (team_id, user_id, role, created, modified)
    values (new.team_id, new.id, 'owner', new.created, new.created);
    return null;
end $$;
CREATE FUNCTION public.add_monitor_tags() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into monitor_tags (monitor_id, tag)
    select new.id, value from jsonb_array_elements_text(new.tags::jsonb) t (value)
    on conflict do nothing;
    return null;
end $$;
CREATE FUNCTION public.bury_monitor() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into graves (monitor_id) values (old.id);
    return null;
end $$;
CREATE FUNCTION public.change_monitor_tags() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    delete from monitor_tags where monitor_id = new.id;
    insert into monitor_tags (monitor_id, tag)
    select new.id, value from jsonb_array_elements_text(new.tags::jsonb) t (value)
    on conflict do nothing;
    return null;
end $$;
CREATE FUNCTION public.delete_first_admin() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    delete from meta where name = 'first_admin'
    and not exists (select 1 from users where kind = 'person');
    return null;
end $$;
CREATE FUNCTION public.delete_monitor_filter() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    delete from monitor_filters where id = old.filter_id;
    return null;
end $$;
CREATE FUNCTION public.deliveries_line() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    new.line := new.monitor_id;
    return new;
end
$$;
CREATE FUNCTION public.look_at_maintenance() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    -- Those that run, or begin before this commits. When many monitors are changed together, the
    -- first has made them due.
    perform 1 from maintenances
    where team_id = new.team_id
    and (running_from is not null or next_at <= new.modified + 60000)
    and next_at is distinct from new.modified
    order by id
    for no key update;
    update maintenances
    set next_at = new.modified
    where team_id = new.team_id and running_from is not null
    and (next_at is null or next_at > new.modified);
    return null;
end $$;
CREATE FUNCTION public.remove_at_processor() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into payment_removals (reference, processor, kind)
    values (old.reference, old.processor, tg_argv[0]) on conflict do nothing;
    return null;
end $$;
CREATE FUNCTION public.set_api_key_team() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update api_keys set team_id = (select u.team_id from users u where u.id = new.user_id)
    where id = new.id;
    return null;
end $$;
CREATE FUNCTION public.set_managed_by() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    update users set managed_by = new.team_id where id = new.id;
    return null;
end $$;
CREATE FUNCTION public.teams_audit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    delete from audit_heads where id = old.id;
    insert into audit_graves (id) values (old.id) on conflict do nothing;
    return null;
end;
$$;
CREATE TABLE public.alert_events (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    alert_id uuid NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    user_id uuid,
    via text NOT NULL,
    text text NOT NULL,
    data text
);
CREATE TABLE public.alerts (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    monitor_id uuid NOT NULL,
    kind text NOT NULL,
    cause text NOT NULL,
    started bigint NOT NULL,
    ended bigint,
    remind_at bigint,
    severity text DEFAULT 'critical'::text NOT NULL,
    status text DEFAULT 'open'::text NOT NULL,
    assignee uuid,
    due bigint,
    revision bigint DEFAULT 0 NOT NULL,
    state text DEFAULT '{}'::text NOT NULL,
    opened_event text,
    closed_event text,
    reason text
);
CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    digest bytea NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    stands_for bytea NOT NULL,
    created bigint NOT NULL,
    last_used bigint,
    scope text DEFAULT 'full'::text NOT NULL,
    filter_id uuid,
    expires bigint,
    reminded_days bigint,
    last_address text DEFAULT ''::text NOT NULL,
    team_id uuid
);
CREATE TABLE public.asks (
    id uuid NOT NULL,
    monitor_id uuid NOT NULL,
    slot bigint NOT NULL,
    body text NOT NULL,
    answer text,
    created bigint NOT NULL
);
CREATE TABLE public.audit (
    chain uuid NOT NULL,
    seq bigint NOT NULL,
    at bigint NOT NULL,
    action text NOT NULL,
    actor_kind text NOT NULL,
    actor_id text NOT NULL,
    via_kind text NOT NULL,
    via_id text NOT NULL,
    object_kind text NOT NULL,
    object_id text NOT NULL,
    object_name text NOT NULL,
    request text NOT NULL,
    changes text NOT NULL,
    person text,
    salt bytea,
    person_hash bytea NOT NULL,
    hash bytea NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.audit_erasures (
    id text NOT NULL
);
CREATE TABLE public.audit_graves (
    id uuid NOT NULL
);
CREATE TABLE public.audit_heads (
    id uuid NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    seal bytea,
    first_seq bigint NOT NULL,
    first_prev bytea NOT NULL,
    reported_seq bigint DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.audit_streams (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    secret bytea NOT NULL,
    cursor bigint NOT NULL,
    batch_end bigint,
    attempts bigint DEFAULT 0 NOT NULL,
    failing_since bigint,
    next_try bigint DEFAULT 0 NOT NULL,
    lease_until bigint DEFAULT 0 NOT NULL,
    last_error text DEFAULT ''::text NOT NULL,
    disabled_at bigint,
    created bigint NOT NULL
);
CREATE TABLE public.blocks (
    monitor_id uuid NOT NULL,
    from_at bigint NOT NULL,
    to_at bigint NOT NULL,
    count bigint NOT NULL,
    data bytea NOT NULL,
    phases bytea,
    regions bytea,
    readings bytea
)
WITH (autovacuum_vacuum_scale_factor='0.02', toast.autovacuum_vacuum_scale_factor='0.02');
ALTER TABLE ONLY public.blocks ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE ONLY public.blocks ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.blocks ALTER COLUMN phases SET STATISTICS 0;
ALTER TABLE ONLY public.blocks ALTER COLUMN phases SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.blocks ALTER COLUMN regions SET STATISTICS 0;
CREATE TABLE public.certificates (
    monitor_id uuid NOT NULL,
    since bigint NOT NULL,
    shown text NOT NULL
);
CREATE TABLE public.component_monitors (
    component_id uuid NOT NULL,
    monitor_id uuid NOT NULL,
    "position" bigint NOT NULL
);
CREATE TABLE public.components (
    id uuid NOT NULL,
    page_id uuid NOT NULL,
    section_id uuid NOT NULL,
    "position" bigint NOT NULL,
    name text NOT NULL,
    tag text NOT NULL,
    settings text NOT NULL,
    override text,
    created bigint NOT NULL
);
CREATE TABLE public.contact_rules (
    user_id uuid NOT NULL,
    team_id uuid NOT NULL,
    rules text,
    feed_digest bytea,
    modified bigint NOT NULL
);
CREATE TABLE public.contacts (
    id uuid NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    subject text NOT NULL,
    message text NOT NULL,
    created bigint NOT NULL
);
CREATE TABLE public.deliveries (
    id uuid NOT NULL,
    eventid uuid NOT NULL,
    team_id uuid NOT NULL,
    monitor_id uuid,
    notifier_id uuid NOT NULL,
    alert_id uuid,
    sequence bigint NOT NULL,
    kind text NOT NULL,
    body text NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    next_try bigint,
    lease_until bigint DEFAULT 0 NOT NULL,
    last_answer text DEFAULT ''::text NOT NULL,
    created bigint NOT NULL,
    finished bigint,
    claimed_by uuid,
    left_to text,
    claims bigint DEFAULT 0 NOT NULL,
    recipients text,
    is_step boolean DEFAULT false NOT NULL,
    line uuid NOT NULL,
    digest uuid
);
CREATE TABLE public.dependencies (
    team_id uuid NOT NULL,
    child_id uuid NOT NULL,
    parent_id uuid NOT NULL,
    as_kind text NOT NULL
);
CREATE TABLE public.evidence (
    id uuid NOT NULL,
    monitor_id uuid NOT NULL,
    alert_id uuid,
    kind text NOT NULL,
    at bigint NOT NULL,
    data bytea NOT NULL
);
CREATE TABLE public.exclusions (
    id uuid NOT NULL,
    monitor_id uuid NOT NULL,
    from_at bigint NOT NULL,
    to_at bigint,
    kind text NOT NULL,
    maintenance_id uuid,
    pauses boolean NOT NULL,
    counts boolean NOT NULL,
    changed bigint NOT NULL,
    recount boolean NOT NULL
);
CREATE TABLE public.folds (
    monitor_id uuid NOT NULL,
    revision bigint NOT NULL,
    until bigint NOT NULL
);
CREATE TABLE public.graves (
    monitor_id uuid NOT NULL
);
CREATE TABLE public.heartbeats (
    monitor_id uuid NOT NULL,
    at bigint NOT NULL,
    seq bigint NOT NULL,
    status text NOT NULL,
    message text NOT NULL,
    load_time bigint,
    phases text,
    regions text,
    readings text
);
ALTER TABLE ONLY public.heartbeats ALTER COLUMN phases SET STATISTICS 0;
ALTER TABLE ONLY public.heartbeats ALTER COLUMN regions SET STATISTICS 0;
CREATE TABLE public.inbound (
    monitor_id uuid NOT NULL,
    key text NOT NULL,
    text text NOT NULL,
    since bigint NOT NULL,
    seen bigint NOT NULL
);
CREATE TABLE public.incident_components (
    incident_id uuid NOT NULL,
    component_id uuid NOT NULL,
    page_id uuid NOT NULL,
    "position" bigint NOT NULL,
    name text NOT NULL,
    status text NOT NULL
);
CREATE TABLE public.incident_pages (
    incident_id uuid NOT NULL,
    page_id uuid NOT NULL,
    is_whole boolean NOT NULL
);
CREATE TABLE public.incident_templates (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    settings text NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL
);
CREATE TABLE public.incident_updates (
    id uuid NOT NULL,
    incident_id uuid NOT NULL,
    status text NOT NULL,
    body text NOT NULL,
    settings text NOT NULL,
    display_at bigint NOT NULL,
    by_rule boolean NOT NULL,
    created bigint NOT NULL,
    edited bigint
);
CREATE TABLE public.incidents (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    kind text NOT NULL,
    title text NOT NULL,
    state text NOT NULL,
    status text NOT NULL,
    impact text NOT NULL,
    settings text NOT NULL,
    source text NOT NULL,
    rule_id uuid,
    started bigint NOT NULL,
    resolved bigint,
    next_at bigint,
    revision bigint DEFAULT 1 NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL
);
CREATE TABLE public.invitations (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    role text NOT NULL,
    filter_id uuid,
    digest bytea NOT NULL,
    mailed boolean NOT NULL,
    invited_by uuid,
    created bigint NOT NULL,
    expires bigint NOT NULL
);
CREATE TABLE public.invoices (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    serial bigint NOT NULL,
    plan text NOT NULL,
    period_from bigint NOT NULL,
    period_until bigint NOT NULL,
    price bigint NOT NULL,
    credit bigint NOT NULL,
    amount bigint NOT NULL,
    state text NOT NULL,
    note text NOT NULL,
    last4 text NOT NULL,
    created bigint NOT NULL,
    paid bigint
);
CREATE TABLE public.limits (
    digest bytea NOT NULL,
    started bigint NOT NULL,
    hits bigint NOT NULL
);
CREATE TABLE public.mails (
    id uuid NOT NULL,
    content bytea NOT NULL,
    created bigint NOT NULL,
    attempts bigint DEFAULT 0 NOT NULL,
    next_try bigint,
    lease_until bigint DEFAULT 0 NOT NULL,
    last_error text DEFAULT ''::text NOT NULL,
    claimed_by uuid,
    claims bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.maintenances (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    isactive boolean NOT NULL,
    selector text NOT NULL,
    schedule text NOT NULL,
    checks text NOT NULL,
    counts text NOT NULL,
    alerts text NOT NULL,
    dependents boolean NOT NULL,
    grace bigint NOT NULL,
    announce text NOT NULL,
    next_at bigint,
    running_from bigint,
    running_to bigint,
    skipped_until bigint,
    revision bigint DEFAULT 0 NOT NULL,
    created_by uuid,
    created bigint NOT NULL,
    modified bigint NOT NULL,
    deleted bigint,
    announced bigint
);
CREATE TABLE public.members (
    team_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    suspended_at bigint,
    created bigint NOT NULL,
    modified bigint NOT NULL,
    filter_id uuid
);
CREATE TABLE public.memberships (
    team_id uuid NOT NULL,
    id uuid NOT NULL,
    plan text NOT NULL,
    state text NOT NULL,
    method_id uuid,
    due bigint,
    lease_until bigint DEFAULT 0 NOT NULL,
    revision bigint NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL
);
CREATE TABLE public.meta (
    name text NOT NULL,
    value bytea NOT NULL
);
CREATE TABLE public.monitor_filter_monitors (
    filter_id uuid NOT NULL,
    monitor_id uuid NOT NULL
);
CREATE TABLE public.monitor_filter_tags (
    filter_id uuid NOT NULL,
    tag text NOT NULL
);
CREATE TABLE public.monitor_filters (
    id uuid NOT NULL,
    team_id uuid NOT NULL
);
CREATE TABLE public.monitor_notifiers (
    monitor_id uuid NOT NULL,
    notifier_id uuid NOT NULL,
    "position" bigint NOT NULL
);
CREATE TABLE public.monitor_states (
    monitor_id uuid NOT NULL,
    status text DEFAULT 'pending'::text NOT NULL,
    since bigint,
    last_check bigint,
    last_message text DEFAULT ''::text NOT NULL,
    load_time bigint,
    failing text,
    warned text,
    seq bigint DEFAULT 0 NOT NULL,
    blocked boolean DEFAULT false NOT NULL,
    degraded text,
    baseline text,
    push text,
    known text
)
WITH (fillfactor='60');
CREATE TABLE public.monitor_tags (
    monitor_id uuid NOT NULL,
    tag text NOT NULL
);
CREATE TABLE public.monitors (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    spec text NOT NULL,
    secret bytea,
    isactive boolean NOT NULL,
    heartbeat_interval bigint NOT NULL,
    timeout bigint,
    retry_interval bigint,
    retries bigint NOT NULL,
    upside_down_mode boolean NOT NULL,
    tags text NOT NULL,
    search text NOT NULL,
    push_digest bytea,
    push_token bytea,
    revision bigint DEFAULT 1 NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL,
    slot bigint DEFAULT 0 NOT NULL,
    regions text DEFAULT '["local"]'::text NOT NULL,
    quorum text DEFAULT 'majority'::text NOT NULL,
    resend_interval bigint DEFAULT 0 NOT NULL,
    severity text DEFAULT 'critical'::text NOT NULL,
    flap_outages bigint DEFAULT 0 NOT NULL,
    flap_within bigint DEFAULT 3600 NOT NULL,
    policy_id uuid,
    assertions text,
    evidence text,
    degraded text,
    slo text,
    slug text,
    ping_digest bytea,
    ping_uuid bytea,
    description text
);
CREATE TABLE public.nodes (
    id uuid NOT NULL,
    name text NOT NULL,
    home text NOT NULL,
    version text NOT NULL,
    started bigint NOT NULL,
    expires bigint NOT NULL,
    leaving boolean DEFAULT false NOT NULL
);
CREATE TABLE public.notifiers (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    kind text NOT NULL,
    config text NOT NULL,
    secret bytea,
    disabled_at bigint,
    disabled_why text DEFAULT ''::text NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL,
    failing_since bigint,
    failed_at bigint,
    revision bigint DEFAULT 1 NOT NULL,
    healthy_since bigint,
    last_error text DEFAULT ''::text NOT NULL,
    isdefault boolean DEFAULT false NOT NULL,
    user_id uuid,
    events text,
    implicit boolean DEFAULT false NOT NULL,
    min_severity text DEFAULT 'info'::text NOT NULL,
    quiet text,
    owner_id uuid,
    group_wait bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.overrides (
    id uuid NOT NULL,
    schedule_id uuid NOT NULL,
    user_id uuid NOT NULL,
    starts bigint NOT NULL,
    ends bigint NOT NULL,
    created_by uuid,
    created bigint NOT NULL
);
CREATE TABLE public.payment_attempts (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    method_id uuid NOT NULL,
    by_person boolean NOT NULL,
    processor text NOT NULL,
    customer text NOT NULL,
    reference text NOT NULL,
    last4 text NOT NULL,
    charge text NOT NULL,
    state text NOT NULL,
    receipt text DEFAULT ''::text NOT NULL,
    tries bigint DEFAULT 0 NOT NULL,
    next_try bigint NOT NULL,
    lease_until bigint NOT NULL,
    created bigint NOT NULL
);
CREATE TABLE public.payment_customers (
    team_id uuid NOT NULL,
    processor text NOT NULL,
    reference text NOT NULL
);
CREATE TABLE public.payment_methods (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    processor text NOT NULL,
    reference text NOT NULL,
    last4 text NOT NULL,
    expiry_month bigint NOT NULL,
    expiry_year bigint NOT NULL,
    cardholder_name text NOT NULL,
    isdefault boolean DEFAULT false NOT NULL,
    ready boolean DEFAULT false NOT NULL,
    created bigint NOT NULL
);
CREATE TABLE public.payment_removals (
    reference text NOT NULL,
    processor text NOT NULL,
    kind text NOT NULL,
    tries bigint DEFAULT 0 NOT NULL,
    next_try bigint DEFAULT 0 NOT NULL,
    lease_until bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.pending_signups (
    digest bytea NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    expires bigint NOT NULL
);
CREATE TABLE public.pings (
    id uuid NOT NULL,
    monitor_id uuid NOT NULL,
    n bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    exit_code bigint,
    rid uuid,
    method text NOT NULL,
    scheme text NOT NULL,
    client text NOT NULL,
    agent text NOT NULL,
    duration bigint,
    bytes bigint NOT NULL,
    body bytea
);
CREATE TABLE public.policies (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    steps text NOT NULL,
    repeat bigint NOT NULL,
    every bigint NOT NULL,
    ack_timeout bigint NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL
);
CREATE TABLE public.push_subscriptions (
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    digest bytea NOT NULL,
    endpoint bytea NOT NULL,
    keys bytea NOT NULL,
    agent text NOT NULL,
    created bigint NOT NULL,
    last_used bigint
);
CREATE TABLE public.recovery_codes (
    user_id uuid NOT NULL,
    digest bytea NOT NULL
);
CREATE TABLE public.resets (
    digest bytea NOT NULL,
    user_id uuid NOT NULL,
    expires bigint NOT NULL,
    email_key text DEFAULT ''::text NOT NULL,
    mailed boolean DEFAULT false NOT NULL
);
CREATE TABLE public.revoked_probes (
    name text NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.rollups (
    monitor_id uuid NOT NULL,
    grain bigint NOT NULL,
    at bigint NOT NULL,
    data bytea NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02');
ALTER TABLE ONLY public.rollups ALTER COLUMN data SET STATISTICS 0;
ALTER TABLE ONLY public.rollups ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE public.routing (
    team_id uuid NOT NULL,
    rules text NOT NULL,
    revision bigint NOT NULL,
    modified bigint NOT NULL
);
CREATE TABLE public.schedules (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    time_zone text NOT NULL,
    layers text NOT NULL,
    announce text NOT NULL,
    feed_digest bytea,
    revision bigint DEFAULT 0 NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL,
    next_at bigint,
    on_call uuid
);
CREATE TABLE public.schema_migrations (
    name text NOT NULL,
    checksum text NOT NULL
);
CREATE TABLE public.sections (
    id uuid NOT NULL,
    page_id uuid NOT NULL,
    "position" bigint NOT NULL,
    name text NOT NULL,
    settings text NOT NULL
);
CREATE TABLE public.sent_mails (
    recipient bytea NOT NULL,
    at bigint NOT NULL
);
CREATE TABLE public.sessions (
    id uuid NOT NULL,
    digest bytea NOT NULL,
    user_id uuid NOT NULL,
    created bigint NOT NULL,
    last_used bigint NOT NULL,
    address text DEFAULT ''::text NOT NULL,
    agent text DEFAULT ''::text NOT NULL,
    api_key_id uuid,
    scope text DEFAULT 'full'::text NOT NULL,
    team_id uuid,
    method text DEFAULT 'password'::text NOT NULL,
    reauthenticated_at bigint
);
CREATE TABLE public.slots (
    slot bigint NOT NULL,
    owner uuid,
    epoch bigint DEFAULT 0 NOT NULL,
    orphaned bigint
);
CREATE TABLE public.statuspage_deliveries (
    event_id uuid NOT NULL,
    subscriber_id uuid NOT NULL,
    incident_id uuid NOT NULL,
    sequence bigint NOT NULL,
    page_id uuid NOT NULL,
    queue text NOT NULL,
    state text NOT NULL,
    message uuid,
    attempts bigint DEFAULT 0 NOT NULL,
    next_try bigint,
    lease_until bigint DEFAULT 0 NOT NULL,
    claims bigint DEFAULT 0 NOT NULL,
    claimed_by uuid,
    last_answer text DEFAULT ''::text NOT NULL,
    created bigint NOT NULL,
    finished bigint
);
CREATE TABLE public.statuspage_domains (
    domain text NOT NULL,
    page_id uuid NOT NULL,
    is_primary boolean NOT NULL,
    verified bigint,
    checked bigint,
    lost bigint
);
CREATE TABLE public.statuspage_events (
    id uuid NOT NULL,
    page_id uuid NOT NULL,
    incident_id uuid NOT NULL,
    update_id uuid NOT NULL,
    type text NOT NULL,
    sequence bigint NOT NULL,
    created bigint NOT NULL,
    lease_until bigint DEFAULT 0 NOT NULL,
    progress uuid,
    completed bigint
);
CREATE TABLE public.statuspage_images (
    page_id uuid NOT NULL,
    kind text NOT NULL,
    digest text NOT NULL,
    media_type text NOT NULL,
    data bytea NOT NULL
);
CREATE TABLE public.statuspage_rules (
    id uuid NOT NULL,
    page_id uuid NOT NULL,
    "position" bigint NOT NULL,
    isactive boolean NOT NULL,
    name text NOT NULL,
    settings text NOT NULL,
    state text DEFAULT '{}'::text NOT NULL
);
CREATE TABLE public.statuspage_slugs (
    slug text NOT NULL,
    page_id uuid NOT NULL,
    is_current boolean NOT NULL
);
CREATE TABLE public.statuspages (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    published boolean NOT NULL,
    access text NOT NULL,
    password_hash text DEFAULT ''::text NOT NULL,
    password_revision bigint DEFAULT 0 NOT NULL,
    access_token bytea,
    settings text NOT NULL,
    revision bigint DEFAULT 1 NOT NULL,
    changed bigint DEFAULT 1 NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL
);
CREATE TABLE public.subscribers (
    id uuid NOT NULL,
    page_id uuid NOT NULL,
    kind text NOT NULL,
    digest bytea NOT NULL,
    address bytea,
    secret bytea,
    state text NOT NULL,
    source text NOT NULL,
    settings text NOT NULL,
    token bytea,
    token_until bigint,
    confirmations bigint DEFAULT 0 NOT NULL,
    confirmations_since bigint DEFAULT 0 NOT NULL,
    created bigint NOT NULL,
    confirmed bigint,
    ended bigint,
    last_delivery bigint,
    failures bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.teams (
    id uuid NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL,
    over_since bigint,
    history_days bigint,
    history_fall_days bigint,
    history_fall_at bigint,
    default_role text DEFAULT 'owner'::text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    mfa text DEFAULT 'optional'::text NOT NULL,
    key_days bigint DEFAULT 0 NOT NULL,
    personal_keys boolean DEFAULT true NOT NULL,
    suspended_at bigint,
    resumed_at bigint,
    deleted_at bigint,
    ping_key_digest bytea,
    ping_key bytea
);
CREATE TABLE public.threads (
    alert_id uuid NOT NULL,
    notifier_id uuid NOT NULL,
    ref text NOT NULL,
    keepalive_at bigint
);
CREATE TABLE public.users (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    email text NOT NULL,
    email_key text NOT NULL,
    name text NOT NULL,
    password_hash text NOT NULL,
    mfa_seed bytea,
    mfa_enabled boolean DEFAULT false NOT NULL,
    mfa_step bigint DEFAULT 0 NOT NULL,
    mfa_failures bigint DEFAULT 0 NOT NULL,
    mfa_locked_until bigint DEFAULT 0 NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL,
    email_verified bigint,
    kind text DEFAULT 'person'::text NOT NULL,
    managed_by uuid,
    is_admin boolean DEFAULT false NOT NULL,
    suspended_at bigint,
    last_seen bigint
);
CREATE TABLE public.verifications (
    digest bytea NOT NULL,
    user_id uuid NOT NULL,
    email_key text NOT NULL,
    expires bigint NOT NULL
);
INSERT INTO public.alert_events VALUES ('01a1f06a-e42c-70ee-a098-3b16f3d11924', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e42b-7f94-a339-c0a2e6b7bcf1', 1795034899500, 'opened', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e42c-7116-8db3-7faf136877a9', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e42b-7f94-a339-c0a2e6b7bcf1', 1795034899500, 'notified', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e46f-7055-9e61-08fbdd0eed70', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e42b-7f94-a339-c0a2e6b7bcf1', 1795034899567, 'recovered', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e4dc-703a-befe-393d65c4f82d', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e4da-7d25-88d8-e7ecda221c7d', 1795034899676, 'opened', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e4dc-7158-8cae-4b0e871ba161', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e4da-7d25-88d8-e7ecda221c7d', 1795034899676, 'notified', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e67b-7090-bf18-ab4d0a5246eb', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e66e-70a5-99cc-b25f62625a75', 1795034900091, 'opened', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e67b-7144-b0c3-2d6c096ab402', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e66e-70a5-99cc-b25f62625a75', 1795034900091, 'notified', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e67b-72cc-9881-803cb7a2f90a', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e66e-70a5-99cc-b25f62625a75', 1795034900091, 'nobody', NULL, '', 'step 1', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e67b-732f-a2e2-264206c1efe0', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e66e-70a5-99cc-b25f62625a75', 1795034900091, 'nobody', NULL, '', 'step 2', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e67b-7482-bd4e-163c10678fd5', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e66e-70a5-99cc-b25f62625a75', 1795034900091, 'escalated', NULL, '', 'no step has reached anybody: every member of the team', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e87e-7067-8d44-7fb0789b5702', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e87a-79e4-ba2d-4eaba70af11e', 1795034900606, 'opened', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e87e-71aa-89c0-8a9dc9b8ca21', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e87a-79e4-ba2d-4eaba70af11e', 1795034900606, 'notified', NULL, '', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-e9ac-70c7-ada5-2b2ddcc43312', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e4da-7d25-88d8-e7ecda221c7d', 1795034900908, 'acknowledged', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'web', '', NULL);
INSERT INTO public.alert_events VALUES ('01a1f06a-ea28-7070-ba8e-71226a5c5322', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e4da-7d25-88d8-e7ecda221c7d', 1795034901032, 'commented', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'web', 'the disk is full', NULL);
INSERT INTO public.alerts VALUES ('01a1f06a-e42b-7f94-a339-c0a2e6b7bcf1', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e363-76ea-ad86-633ac177d9ce', 'outage', 'it is down', 1795034899499, 1795034899566, NULL, 'critical', 'over', NULL, NULL, 3, '{"notified":1795034899500,"closed":true}', '{"id":"01a1f06a-e42b-7807-ab55-393777951700","kind":"monitor.down","seq":3,"at":1795034899499,"body":"{\"data\":{\"alertid\":\"01a1f06a-e42b-7f94-a339-c0a2e6b7bcf1\",\"down_seconds\":0,\"down_since\":\"2026-11-18T20:48:19.499Z\",\"eventid\":\"01a1f06a-e42b-7807-ab55-393777951700\",\"load_time\":null,\"message\":\"it is down\",\"monitor\":{\"monitorid\":\"01a1f06a-e363-76ea-ad86-633ac177d9ce\",\"name\":\"nightly backup\",\"tags\":[],\"target\":\"\",\"type\":\"api\"},\"payload\":{\"message\":\"it is down\"},\"previous_status\":\"up\",\"reason\":\"reported\",\"severity\":\"critical\",\"status\":\"down\"},\"text\":\"[nightly backup] down: it is down\",\"timestamp\":\"2026-11-18T20:48:19.499Z\",\"type\":\"monitor.down\"}"}', '{"id":"01a1f06a-e46e-7a1c-a5f3-343edadc6552","kind":"monitor.up","seq":4,"at":1795034899566,"body":"{\"data\":{\"alertid\":\"01a1f06a-e42b-7f94-a339-c0a2e6b7bcf1\",\"down_seconds\":0,\"down_since\":\"2026-11-18T20:48:19.499Z\",\"eventid\":\"01a1f06a-e46e-7a1c-a5f3-343edadc6552\",\"load_time\":null,\"message\":\"it is up\",\"monitor\":{\"monitorid\":\"01a1f06a-e363-76ea-ad86-633ac177d9ce\",\"name\":\"nightly backup\",\"tags\":[],\"target\":\"\",\"type\":\"api\"},\"payload\":{\"message\":\"it is up\"},\"previous_status\":\"down\",\"reason\":\"reported\",\"severity\":\"critical\",\"status\":\"up\"},\"text\":\"[nightly backup] up: it is up\",\"timestamp\":\"2026-11-18T20:48:19.566Z\",\"type\":\"monitor.up\"}"}', 'reported');
INSERT INTO public.alerts VALUES ('01a1f06a-e4da-7d25-88d8-e7ecda221c7d', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e363-76ea-ad86-633ac177d9ce', 'outage', 'it is down', 1795034899674, NULL, NULL, 'critical', 'acknowledged', NULL, NULL, 3, '{"notified":1795034899676,"acknowledged":{"at":1795034900908,"user":"01a1f06a-e2a8-747d-8b87-2c50cfc83897","name":"ann@example.com","via":"web"}}', '{"id":"01a1f06a-e4da-7f88-b43d-d280ccb374dc","kind":"monitor.down","seq":5,"at":1795034899674,"body":"{\"data\":{\"alertid\":\"01a1f06a-e4da-7d25-88d8-e7ecda221c7d\",\"down_seconds\":0,\"down_since\":\"2026-11-18T20:48:19.674Z\",\"eventid\":\"01a1f06a-e4da-7f88-b43d-d280ccb374dc\",\"load_time\":null,\"message\":\"it is down\",\"monitor\":{\"monitorid\":\"01a1f06a-e363-76ea-ad86-633ac177d9ce\",\"name\":\"nightly backup\",\"tags\":[],\"target\":\"\",\"type\":\"api\"},\"payload\":{\"message\":\"it is down\"},\"previous_status\":\"up\",\"reason\":\"reported\",\"severity\":\"critical\",\"status\":\"down\"},\"text\":\"[nightly backup] down: it is down\",\"timestamp\":\"2026-11-18T20:48:19.674Z\",\"type\":\"monitor.down\"}"}', NULL, 'reported');
INSERT INTO public.alerts VALUES ('01a1f06a-e66e-70a5-99cc-b25f62625a75', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', 'outage', 'reported failure', 1795034900078, NULL, NULL, 'critical', 'open', NULL, 1795036700091, 1, '{"notified":1795034900091,"escalation":{"policy":"01a1f06a-e5eb-7afb-8123-f5b70990d0ff","round":0,"step":2,"from":1795034900091}}', '{"id":"01a1f06a-e66e-7095-9aa2-cf84c9426a4d","kind":"monitor.down","seq":3,"at":1795034900078,"body":"{\"data\":{\"alertid\":\"01a1f06a-e66e-70a5-99cc-b25f62625a75\",\"down_seconds\":0,\"down_since\":\"2026-11-18T20:48:20.078Z\",\"eventid\":\"01a1f06a-e66e-7095-9aa2-cf84c9426a4d\",\"load_time\":null,\"message\":\"reported failure\",\"monitor\":{\"monitorid\":\"01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f\",\"name\":\"weekly report\",\"tags\":[],\"target\":\"\",\"type\":\"api\"},\"payload\":null,\"previous_status\":\"up\",\"reason\":\"reported\",\"severity\":\"critical\",\"status\":\"down\"},\"text\":\"[weekly report] down: reported failure\",\"timestamp\":\"2026-11-18T20:48:20.078Z\",\"type\":\"monitor.down\"}"}', NULL, 'reported');
INSERT INTO public.alerts VALUES ('01a1f06a-e87a-79e4-ba2d-4eaba70af11e', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e7d7-75ca-9fc5-3a61cfa61670', 'degraded', 'reported degraded', 1795034900602, NULL, NULL, 'warning', 'open', NULL, NULL, 1, '{"notified":1795034900606}', '{"id":"01a1f06a-e87a-76d9-a083-6f0993863466","kind":"monitor.degraded","seq":2,"at":1795034900602,"body":"{\"data\":{\"alertid\":\"01a1f06a-e87a-79e4-ba2d-4eaba70af11e\",\"degraded_since\":\"2026-11-18T20:48:20.602Z\",\"down_seconds\":null,\"down_since\":null,\"eventid\":\"01a1f06a-e87a-76d9-a083-6f0993863466\",\"health\":\"degraded\",\"load_time\":null,\"message\":\"reported degraded\",\"monitor\":{\"monitorid\":\"01a1f06a-e7d7-75ca-9fc5-3a61cfa61670\",\"name\":\"search\",\"tags\":[\"eu\"],\"target\":\"\",\"type\":\"api\"},\"payload\":null,\"previous_status\":\"up\",\"reason\":\"reported\",\"severity\":\"warning\",\"status\":\"up\"},\"text\":\"[search] degraded: reported degraded\",\"timestamp\":\"2026-11-18T20:48:20.602Z\",\"type\":\"monitor.degraded\"}"}', NULL, 'reported');
INSERT INTO public.api_keys VALUES ('01a1f06a-e514-712c-8eb4-e123ba96dac0', '\x1d401ed3ee2a4ffadcb94da56f68cb1f0b16adacd7e1c44e2762e251e350d96d', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'my script', 'wka_naempD', '\x4aece3c100b73f166762baf0d84e8754f09cf0e2e554172fb29b4778333880ba5210df9a0fbc83215e0a19ec6d04c65f3a6af00fcc720aa6e8911f1d0bd03eee96a04786c0258e55c7adaabb950c791d3c1e9777e1a6bbc8844a77b18586085a4367744ac4bd504ebbecc2db22d2786a209523305d1283fc3f9c690e0a928b1a40ba3126e306fc63d4d37d5a31e4a0eeaafcc808', 1795034899732, NULL, 'full', NULL, NULL, NULL, '', '01a1f06a-e223-7646-b224-78f8ab72a0b5');
INSERT INTO public.audit VALUES ('00000000-0000-0000-0000-000000000000', 1, 1795034899112, 'admin.grant', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', '', '', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', '', 'tjopzgtpcjr6f6be', '[]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1","object":"ann@example.com"}', '\x295b8f91e2d2ec89f51c28947808b7a7', '\xf8938e4f9bff9bb8b9ecf3744d87e3252bf4dd5100edc6880d32f5ed73b882f4', '\xf345a3ca4827bd3f2d5df74d12757bd3e23ccedb7561028af06431d3fb63d42f', 100);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 1, 1795034899112, 'team.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', '', '', 'team', '01a1f06a-e223-7646-b224-78f8ab72a0b5', '', 'tjopzgtpcjr6f6be', '[]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x187332a72511e109afd0f2c515489d2b', '\x0b6885e1e40c066bcc2eb7ff3fc5865a80c03a485dfa5177e7f672e92bb02f9f', '\x7ace1b03db22f1ab61f38a79497d3861fc70e482dce2c8b305eba43cfcd2a1ca', 73);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 2, 1795034899170, 'notifier.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'notifier', '01a1f06a-e2e2-7fdc-a267-ce356e5669c8', 'chat', 'peufim6nc5kkmi5g', '[{"field":"events","to":["monitor.down","monitor.reminder","monitor.up","monitor.certificate_expiring","monitor.domain_expiring","monitor.flapping","monitor.steady","monitor.degraded","monitor.restored","monitor.changed","alert.acknowledged","alert.assigned","alert.escalated","alert.resolved","maintenance.scheduled","maintenance.started","maintenance.ended","oncall.handover","notifier.test"]},{"field":"group_wait","to":0},{"field":"isactive","to":false},{"field":"isdefault","to":false},{"field":"min_severity","to":"info"},{"field":"name","to":"chat"},{"field":"type","to":"webhook"},{"field":"webhook.secret","to":"changed"},{"field":"webhook.url","to":"http://127.0.0.1:9"},{"field":"webhook.url.path","to":"changed"}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\xc0b5f19e184a53563bc3b3e7069e7977', '\x027e133f7ac7c3a20337d378ced46c94c40b2279c62f1be3971818d683c447e7', '\x9fb7ca2194f518ccd6189327ef34a03de7ee72c39f6de4f6ff8f9feb8e49c50c', 796);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 3, 1795034899299, 'monitor.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'monitor', '01a1f06a-e363-76ea-ad86-633ac177d9ce', 'nightly backup', 'rpfcgt4a64zh3gdh', '[{"field":"flap_outages","to":0},{"field":"flap_within","to":3600},{"field":"heartbeat_interval","to":86400},{"field":"isactive","to":true},{"field":"name","to":"nightly backup"},{"field":"notifiers","to":["01a1f06a-e2e2-7fdc-a267-ce356e5669c8"]},{"field":"ping_url","to":"changed"},{"field":"push_url","to":"changed"},{"field":"quorum","to":"majority"},{"field":"regions","to":["local"]},{"field":"retries","to":1},{"field":"severity","to":"critical"},{"field":"type","to":"api"},{"field":"upside_down_mode","to":false}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x3699c3eb37118244a69f5e6107eb5f78', '\x2114111aab7a5de29a9618e3f8e891b4e772a469db4bf88dcbe8c43400b50f02', '\x3810a9a9b280a62a424cc6161dc0297a3f3c02867336f5d10cec8c2a46be3900', 592);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 4, 1795034899364, 'monitor.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'monitor', '01a1f06a-e3a4-786a-b2bf-a0f79a9c4036', 'site', 'ek7plfnsjlfahoqg', '[{"field":"flap_outages","to":0},{"field":"flap_within","to":3600},{"field":"heartbeat_interval","to":3600},{"field":"http.accepted_statuscodes","to":"200-299"},{"field":"http.authentication","to":"none"},{"field":"http.certificate_expiry_notification","to":false},{"field":"http.ignore_tls_error","to":false},{"field":"http.max_redirects","to":10},{"field":"http.method","to":"GET"},{"field":"http.url","to":"http://127.0.0.1:9/"},{"field":"isactive","to":false},{"field":"name","to":"site"},{"field":"notifiers","to":["01a1f06a-e2e2-7fdc-a267-ce356e5669c8"]},{"field":"quorum","to":"majority"},{"field":"regions","to":["local"]},{"field":"retries","to":1},{"field":"severity","to":"critical"},{"field":"tags","to":["prod","eu"]},{"field":"type","to":"http"},{"field":"upside_down_mode","to":false}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\xaf2c6db2f3802625705f4c2fbcb10d0a', '\x489674e830a761e0fdf6e50627a0f96e251024172edeb0dca1a7b6f7b0cfada7', '\x80a02cef0e53839e38be71443906892a427d03c317002e8c7b5ef6a32ebdce99', 871);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 5, 1795034899732, 'key.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'key', '01a1f06a-e514-712c-8eb4-e123ba96dac0', 'my script', 'yu4pglirdsmraeqj', '[{"field":"holder","to":"01a1f06a-e2a8-747d-8b87-2c50cfc83897"},{"field":"name","to":"my script"},{"field":"prefix","to":"wka_naempD"},{"field":"scope","to":"full"}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x32e0a55c8a0d001d58e57c21117599a5', '\xe91e355d2ecc25360300597d96d4fcccebeff511d617cccc1f8d62f536fe0a6b', '\x5d0d6ff27d76be9a325d6098e7db6acf09db4c2e3a35d1f6d144b53c6be6e8ac', 236);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 6, 1795034899947, 'policy.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'policy', '01a1f06a-e5eb-7afb-8123-f5b70990d0ff', 'on call', 'mylcofmoe4ds426e', '[{"field":"ack_timeout","to":0},{"field":"every","to":1800},{"field":"name","to":"on call"},{"field":"repeat","to":1},{"field":"steps","to":["after 0 s: everybody","after 3600 s: notifier 01a1f06a-e2e2-7fdc-a267-ce356e5669c8"]}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x9e40d40e5a637847784ed2f7c94883ec', '\xec785b7965cc69b9edd0f3c9bcb01b1c1ff41ebc45eec8fc4ba17b0d7e3ea980', '\x35c70f861f97d25e32ec7e8041c49962d759e1659b90399f27f96937af299e8c', 299);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 7, 1795034899959, 'monitor.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'monitor', '01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', 'weekly report', 'wn4lhoah4qdhdmxm', '[{"field":"api.keywords","to":{"failure":"","otherwise":"ignore","start":"","success":""}},{"field":"api.post_only","to":false},{"field":"api.schedule","to":"0 6 * * 1"},{"field":"api.slug","to":"report"},{"field":"api.tz","to":"Europe/Berlin"},{"field":"flap_outages","to":0},{"field":"flap_within","to":3600},{"field":"grace","to":86400},{"field":"heartbeat_interval","to":604800},{"field":"isactive","to":true},{"field":"name","to":"weekly report"},{"field":"ping_url","to":"changed"},{"field":"policyid","to":"01a1f06a-e5eb-7afb-8123-f5b70990d0ff"},{"field":"push_url","to":"changed"},{"field":"quorum","to":"majority"},{"field":"regions","to":["local"]},{"field":"retries","to":1},{"field":"severity","to":"critical"},{"field":"type","to":"api"},{"field":"upside_down_mode","to":false}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\xfc67873f49d6526376aadba38c64564b', '\x4e6bd25160cd162646f401dc871c919b30c7bc51ab53efae2399bca300abe367', '\x72749da9ad7191eb1d0005deec6df45fe76bd81963b2a88706a7ac79cd4623ac', 862);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 8, 1795034900439, 'monitor.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'monitor', '01a1f06a-e7d7-75ca-9fc5-3a61cfa61670', 'search', 'zunnnh2t6rlq232e', '[{"field":"flap_outages","to":0},{"field":"flap_within","to":3600},{"field":"heartbeat_interval","to":31536000},{"field":"isactive","to":true},{"field":"name","to":"search"},{"field":"ping_url","to":"changed"},{"field":"policyid","to":"01a1f06a-e5eb-7afb-8123-f5b70990d0ff"},{"field":"push_url","to":"changed"},{"field":"quorum","to":"majority"},{"field":"regions","to":["local"]},{"field":"retries","to":1},{"field":"severity","to":"critical"},{"field":"slo","to":{"days":30,"target":99500}},{"field":"tags","to":["eu"]},{"field":"type","to":"api"},{"field":"upside_down_mode","to":false}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\xcf62607b59642e51dcdd06acb1b6b52c', '\xa82ff79c01eb9108333251cb92dd096f110c2e15eb0d468ab1b018ef97d00a50', '\x67e681e6a8d62bc2945ecb179d9fa3e351e91689e787eda01bdecc7b2fd74771', 661);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 9, 1795034900619, 'monitor.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'monitor', '01a1f06a-e88b-769f-80dc-abd2950aaf9a', 'queue', 'svmzqooaixrhnegs', '[{"field":"assertions","to":[{"comparison":"less_than","property":"$.depth","source":"json","target":"1000"}]},{"field":"degraded","to":{"notify":true,"of":5,"over":3,"regions":0,"slow":800}},{"field":"flap_outages","to":0},{"field":"flap_within","to":3600},{"field":"heartbeat_interval","to":3600},{"field":"http.accepted_statuscodes","to":"200"},{"field":"http.authentication","to":"none"},{"field":"http.certificate_expiry_notification","to":false},{"field":"http.ignore_tls_error","to":false},{"field":"http.max_redirects","to":10},{"field":"http.method","to":"GET"},{"field":"http.url","to":"http://127.0.0.1:9/"},{"field":"isactive","to":false},{"field":"name","to":"queue"},{"field":"quorum","to":"majority"},{"field":"regions","to":["local"]},{"field":"retries","to":1},{"field":"severity","to":"critical"},{"field":"type","to":"http"},{"field":"upside_down_mode","to":false}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\xef1ccc32c622694fb4084fb1045ebbf1', '\xbda802edfb83dadcd9e5caed7793bbd0a096cb2b94016db34be35bcb15aa90c0', '\x40968364ec9f9900dff50dc4136c4ffb01862a445088b060c51530284cd17071', 955);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 10, 1795034900908, 'alert.acknowledge', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'alert', '01a1f06a-e4da-7d25-88d8-e7ecda221c7d', 'nightly backup', 'oyi45k6neozzttw5', '[]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x8ba46d33374723ac4ff0296b5dabfb7a', '\xa7de9d8b7e050aa214b88e60f8e4621f1c19f7554011aade44a44012de19f9e9', '\x04dfab9fb882d0a11bda1673b80ee0b6c965971e6ce6ee8028cb471d7e92b332', 73);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 11, 1795034901032, 'alert.comment', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'alert', '01a1f06a-e4da-7d25-88d8-e7ecda221c7d', 'nightly backup', 'm47spopy7oozo2bj', '[{"field":"comment","to":"the disk is full"}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\xac5a213a5c57a83169d4ac4ebe3fc402', '\x046ad190ad4d66fb518476d8a1fd1eff7a3ec6dcff805ab4be98313dbb886b0e', '\x8024abb1fb348b9a731a64dc7c58d2d5f92f94bf5bf58325a1832bd1408ad1bb', 116);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 12, 1795034901049, 'maintenance.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'maintenance', '01a1f06a-ea39-72ab-9b23-7310e8649c4f', 'patch day', 'dzdxb5ggsjlye2rr', '[{"field":"alerts","to":"suppress"},{"field":"announce.end","to":false},{"field":"announce.start","to":false},{"field":"checks","to":"run"},{"field":"counts","to":"excluded"},{"field":"dependents","to":true},{"field":"duration","to":3600},{"field":"everything","to":false},{"field":"grace","to":0},{"field":"isactive","to":true},{"field":"name","to":"patch day"},{"field":"rrule","to":"FREQ=WEEKLY;BYDAY=MO"},{"field":"starts","to":"2026-01-05T02:30:00"},{"field":"tags","to":["prod"]},{"field":"time_zone","to":"Europe/Berlin"}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x9245181d42df81394b828e7adfb76bf7', '\x41d8700f5e7b597876de42c22db435453ed4a8d7187c27490d309bbfdb3602c0', '\x39ff0ee9d4afba4c857ddef9a93b9fdb88588c36e996603f4f73f62e8eccd483', 600);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 13, 1795034901067, 'statuspage.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'statuspage', '01a1f06a-ea4b-70a8-8fa5-de5569908054', 'Acme', '6aohjphdpei3kecr', '[{"field":"access","to":"public"},{"field":"appearance","to":{"accent":null,"custom_css":"","layout":"list","links":[],"powered_by":true,"scheme":"auto"}},{"field":"display","to":{"bars":true,"certificates":false,"collapsed":"never","decimals":3,"history_days":90,"incident_days":7,"outages":false,"response_times":false,"uptime":true}},{"field":"embed_origins","to":"*"},{"field":"indexed","to":false},{"field":"language","to":"en"},{"field":"name","to":"Acme"},{"field":"published","to":true},{"field":"rules","to":"outages"},{"field":"sections","to":["Services: Backups (1 monitors), Site (0 monitors, tag eu)"]},{"field":"shown_after","to":0},{"field":"slug","to":"acme"},{"field":"subscribe","to":{"chat":false,"choose":true,"email":true,"feeds":true,"reply_to":"","sender":null,"webhook":false}},{"field":"texts","to":{}},{"field":"timezone","to":"UTC"}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x093b2a6cbfada25a4384b169df49af4f', '\x0826562075861b06ab8594cb9b28156e5147f3e003e76aba2b981267bb6060b1', '\x4d77f476a85967f00d293aee6f04ca6418708649c848d2317696df517f9efc7b', 931);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 14, 1795034901094, 'subscriber.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'subscriber', '01a1f06a-ea62-7203-9778-2f1ec49ff7da', '', 'wtv22ib6cuw54aa4', '[{"field":"format","to":"standard"},{"field":"kind","to":"email"},{"field":"kinds","to":"incidents, maintenance"},{"field":"language","to":"en"},{"field":"scope","to":{"components":[],"sections":[]}},{"field":"state","to":"active"}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x4ee277eb320a686fc8009ed897e47d76', '\xec3ba9ce2a0e9c4f441dc1c48367b0d87347ac16d0050fce2486b86589077341', '\x17382b88175f5ca054879a4170fa5bfcddcd3cd7c02f37ca86f797b0ff6e76da', 303);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 15, 1795034901112, 'incident.create', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'incident', '01a1f06a-ea77-77c1-9955-f938b4935747', 'Backups are late', 'ln7jevqxx3xpx3ti', '[{"field":"components","to":["Backups: major_outage"]},{"field":"impact","to":"critical"},{"field":"kind","to":"incident"},{"field":"started","to":"2026-11-18T20:48:21.111Z"},{"field":"state","to":"published"},{"field":"status","to":"investigating"},{"field":"title","to":"Backups are late"},{"field":"updates","to":1}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x65789a9e171c367ef2f4d4ded2517177', '\x6ba8cae37c5bd4945e342d960dc334c8c9e3257676b0d55e7bcffb6b44e97e3f', '\xce4bddee08651581e1ab5dfcc36aa1b88755ce8d10b8de25eb912402a92ad4b8', 390);
INSERT INTO public.audit VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 16, 1795034901128, 'incident.post', 'person', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'session', '01a1f06a-e2a8-7da2-afb1-48ea9366493f', 'incident', '01a1f06a-ea77-77c1-9955-f938b4935747', 'Backups are late', 'rj4cvvlsdfpzkzwe', '[{"field":"status","from":"investigating","to":"identified"},{"field":"updates","from":1,"to":2}]', '{"actor":"ann@example.com","address":"127.0.0.1","agent":"curl/7.88.1"}', '\x46569a39cec2708958724fe7df5bc320', '\xd8da1c4e5fef34bd0529c9912b8f492c6bc448d8959c7ce29b602299a1e9dd7d', '\x811154e27c9e1676696549ddcb01ad3a41492b47639b34343eb5abccf595a0d4', 168);
INSERT INTO public.audit_heads VALUES ('00000000-0000-0000-0000-000000000000', 1, '\xf345a3ca4827bd3f2d5df74d12757bd3e23ccedb7561028af06431d3fb63d42f', '\x0193f6b1866608e5c4a84ab7f39362187d532d7edf50e3428a079d3af8b33a6a9ca148d7cea0bdd7e47b970c41c12864cafa28c4a3445f49bd893d4a0da2c11c38efa17b76448f8506fa7341ed82d4b65af3dc16621fd90333f6cd8ba4f88aa000f46994301c728edcc2967300d28ab5b4834feea1a32e168b6ea85a84', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 0, 100);
INSERT INTO public.audit_heads VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 16, '\x811154e27c9e1676696549ddcb01ad3a41492b47639b34343eb5abccf595a0d4', '\x0193f6b1865bbdc4276ed45c5fb7965661553768ab0de218ed816c1a1cacd12b6724f9e04ce49b9d9b35d31370da118e3d0271295cf7721e990fcd68dbb0b29e3318d7239adf875fd78548e712b30fd9ab4b8cd5b12eb0cd4a1783e79e128725dc79c8732fc5e2672ffaa4f359b8352e65e25726084079a410eaff996d', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 0, 7926);
INSERT INTO public.component_monitors VALUES ('01a1f06a-ea4b-7d16-a37f-4a3272b742f7', '01a1f06a-e363-76ea-ad86-633ac177d9ce', 0);
INSERT INTO public.components VALUES ('01a1f06a-ea4b-7551-b8e9-601e588ef115', '01a1f06a-ea4b-70a8-8fa5-de5569908054', '01a1f06a-ea4b-7b39-a001-0083ad9e694b', 1, 'Site', 'eu', '{"description":"","texts":{},"needs":"all","own_status":"operational","uptime_from":null,"since":null,"link":"","only_show_if_degraded":false,"display":{"uptime":null,"response_time":null,"certificate":null},"alias":""}', NULL, 1795034901067);
INSERT INTO public.components VALUES ('01a1f06a-ea4b-7d16-a37f-4a3272b742f7', '01a1f06a-ea4b-70a8-8fa5-de5569908054', '01a1f06a-ea4b-7b39-a001-0083ad9e694b', 0, 'Backups', '', '{"description":"","texts":{},"needs":"all","own_status":"operational","uptime_from":null,"since":null,"link":"","only_show_if_degraded":false,"display":{"uptime":null,"response_time":null,"certificate":null},"alias":""}', NULL, 1795034901067);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e363-76ea-ad86-633ac177d9ce', 1795034899426, 1, 'up', 'it is up', NULL, NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e363-76ea-ad86-633ac177d9ce', 1795034899467, 2, 'up', 'it is up', NULL, NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e363-76ea-ad86-633ac177d9ce', 1795034899499, 3, 'down', 'it is down', NULL, NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e363-76ea-ad86-633ac177d9ce', 1795034899566, 4, 'up', 'it is up', NULL, NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e363-76ea-ad86-633ac177d9ce', 1795034899674, 5, 'down', 'it is down', NULL, NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', 1795034900034, 2, 'up', 'reported success', 49000, NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', 1795034900078, 3, 'down', 'reported failure', NULL, NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e7d7-75ca-9fc5-3a61cfa61670', 1795034900537, 1, 'up', 'reported up', NULL, NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1f06a-e7d7-75ca-9fc5-3a61cfa61670', 1795034900602, 2, 'degraded', 'reported degraded', NULL, NULL, NULL, NULL);
INSERT INTO public.incident_components VALUES ('01a1f06a-ea77-77c1-9955-f938b4935747', '01a1f06a-ea4b-7d16-a37f-4a3272b742f7', '01a1f06a-ea4b-70a8-8fa5-de5569908054', 0, 'Backups', 'major_outage');
INSERT INTO public.incident_pages VALUES ('01a1f06a-ea77-77c1-9955-f938b4935747', '01a1f06a-ea4b-70a8-8fa5-de5569908054', false);
INSERT INTO public.incident_updates VALUES ('01a1f06a-ea77-7bae-a6e2-1385872092f3', '01a1f06a-ea77-77c1-9955-f938b4935747', 'investigating', 'We are looking into it.', '{"texts":{},"components":[{"id":"01a1f06a-ea4b-7d16-a37f-4a3272b742f7","page":"01a1f06a-ea4b-70a8-8fa5-de5569908054","name":"Backups","old_status":"operational","new_status":"major_outage"}],"notify":true}', 1795034901111, false, 1795034901111, NULL);
INSERT INTO public.incident_updates VALUES ('01a1f06a-ea88-7c01-95e5-fe1f2c1e1936', '01a1f06a-ea77-77c1-9955-f938b4935747', 'identified', 'The disk is full.', '{"texts":{},"components":[],"notify":true}', 1795034901128, false, 1795034901128, NULL);
INSERT INTO public.incidents VALUES ('01a1f06a-ea77-77c1-9955-f938b4935747', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'incident', 'Backups are late', 'published', 'identified', 'critical', '{"texts":{},"impact_override":null,"backfilled":false,"scheduled_for":null,"scheduled_until":null,"auto_start":true,"auto_end":true,"remind_hours":[24,1],"repeat":"","timezone":"UTC","reminded":null,"repeated":false,"cancelled":false,"postmortem":null,"by_person":true}', 'person', NULL, 1795034901111, NULL, NULL, 2, 1795034901111, 1795034901128);
INSERT INTO public.limits VALUES ('\x900c2279e8fb799a2913a899c9891863035de800b4d84c2975e012266e57f5e0', 1795034898975, 1);
INSERT INTO public.limits VALUES ('\xab55cf8c035a1513775e4d294f0782640fc2827b8bee1e6344bf61e90b8f5179', 1795034898978, 1);
INSERT INTO public.maintenances VALUES ('01a1f06a-ea39-72ab-9b23-7310e8649c4f', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'patch day', '', true, '{"tags":["prod"]}', '{"starts":"2026-01-05T02:30:00","time_zone":"Europe/Berlin","duration":3600,"rrule":"FREQ=WEEKLY;BYDAY=MO"}', 'run', 'excluded', 'suppress', true, 0, '{"notifiers":[],"before":[],"start":false,"end":false}', 1795397400000, NULL, NULL, NULL, 0, '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 1795034901049, 1795034901049, NULL, NULL);
INSERT INTO public.members VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'owner', NULL, 1795034899112, 1795034899112, NULL);
INSERT INTO public.meta VALUES ('first_admin', '\x00');
INSERT INTO public.meta VALUES ('keyring', '\x0193f6b186b53178ae7a36b7e8d5f38ad44df4d8c7480379fa3466627683095e1ffecb0e42108268bdbb4d4212a3900b01c6e44d');
INSERT INTO public.meta VALUES ('listened_until', '\x31373935303334393031313431');
INSERT INTO public.meta VALUES ('subscriber_key', '\x0193f6b1867b3e14db202623ca68dedff26b06e04c648dfb2cd829472d653ee035000ff4663ea9cc353c1f8b84d1dc468da74195f3385bf2f49d2291d7ba841e99299b402619b37d56d03fd2e3');
INSERT INTO public.monitor_notifiers VALUES ('01a1f06a-e363-76ea-ad86-633ac177d9ce', '01a1f06a-e2e2-7fdc-a267-ce356e5669c8', 0);
INSERT INTO public.monitor_notifiers VALUES ('01a1f06a-e3a4-786a-b2bf-a0f79a9c4036', '01a1f06a-e2e2-7fdc-a267-ce356e5669c8', 0);
INSERT INTO public.monitor_states VALUES ('01a1f06a-e363-76ea-ad86-633ac177d9ce', 'down', 1795034899674, 1795034899674, 'it is down', NULL, '{"checks":1,"started":1795034899674,"cause":"it is down","reason":"reported"}', NULL, 5, false, NULL, NULL, NULL, NULL);
INSERT INTO public.monitor_states VALUES ('01a1f06a-e3a4-786a-b2bf-a0f79a9c4036', 'pending', NULL, NULL, '', NULL, NULL, NULL, 0, false, NULL, NULL, NULL, NULL);
INSERT INTO public.monitor_states VALUES ('01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', 'down', 1795034900078, 1795034900078, 'reported failure', NULL, '{"checks":1,"started":1795034900078,"cause":"reported failure","reason":"reported"}', NULL, 3, false, NULL, NULL, NULL, NULL);
INSERT INTO public.monitor_states VALUES ('01a1f06a-e7d7-75ca-9fc5-3a61cfa61670', 'up', 1795034900537, 1795034900602, 'reported degraded', NULL, NULL, NULL, 2, false, '{"recent":0,"degraded":{"since":1795034900602,"cause":"reported degraded","reason":"reported"}}', NULL, NULL, NULL);
INSERT INTO public.monitor_states VALUES ('01a1f06a-e88b-769f-80dc-abd2950aaf9a', 'pending', NULL, NULL, '', NULL, NULL, NULL, 0, false, NULL, NULL, NULL, NULL);
INSERT INTO public.monitor_tags VALUES ('01a1f06a-e3a4-786a-b2bf-a0f79a9c4036', 'eu');
INSERT INTO public.monitor_tags VALUES ('01a1f06a-e3a4-786a-b2bf-a0f79a9c4036', 'prod');
INSERT INTO public.monitor_tags VALUES ('01a1f06a-e7d7-75ca-9fc5-3a61cfa61670', 'eu');
INSERT INTO public.monitors VALUES ('01a1f06a-e363-76ea-ad86-633ac177d9ce', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'nightly backup', 'api', '{"type":"api"}', NULL, true, 86400, NULL, NULL, 1, false, '[]', 'nightly backup
', '\x721fad8c62b311c3af753bb579a6995c3c5eddc0338a48b8eccb216d898f1244', '\x0193f6b186d634e4c928e3a7ce70da5c8d56670cfc36cf2666eed8c99716dc0cd4617df8534a5b74216d6cb6cf6b733bca52e2fe4606f9d2387a6b0d29d0f74c3992a5caafa58d84e23577f057', 1, 1795034899299, 1795034899299, 985, '["local"]', 'majority', 0, 'critical', 0, 3600, NULL, NULL, NULL, NULL, NULL, NULL, '\x6f5088f1f3075d910d0dc89a90618e6dc4b13177878c76a22f89e3b6a7fe833e', '\x0193f6b186832898776c9fa84d96bc568bef7cda94f79a53481933af33d054c2e48a5ed83b54b29844bf7a7f1ddc64dd2f756aa0fae4e0cc22fdc224aed95d5df862ee328b9e747bc4f39aa76a377ccc6a', NULL);
INSERT INTO public.monitors VALUES ('01a1f06a-e3a4-786a-b2bf-a0f79a9c4036', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'site', 'http', '{"type":"http","url":"http://127.0.0.1:9/","method":"GET","accepted":"200-299","keyword":"","body":"","headers":"","authentication":"none","username":"","ignore_tls_error":false,"certificate_expiry_notification":false,"max_redirects":10}', NULL, false, 3600, NULL, NULL, 1, false, '["prod","eu"]', 'site
http://127.0.0.1:9/
prod
eu', NULL, NULL, 1, 1795034899364, 1795034899364, 64, '["local"]', 'majority', 0, 'critical', 0, 3600, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.monitors VALUES ('01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'weekly report', 'api', '{"type":"api","grace":86400000000,"schedule":{"text":"0 6 * * 1","tz":"Europe/Berlin"},"slug":"report"}', NULL, true, 604800, NULL, NULL, 1, false, '[]', 'weekly report
', '\x3832c7f11d97eeced1f1175727151fe2ed86b19a5999d87db933e2ec41aa05cf', '\x0193f6b18648e56020888fe76dbf24e4f15fb8c68cf5ed8abb127f77244867cf389a78d8360995f63973be4547b72b2c717dafaf555dd68fa46d2bc2d947a51b01cab49721a9bf8c3d8bb94bf1', 1, 1795034899959, 1795034899959, 164, '["local"]', 'majority', 0, 'critical', 0, 3600, '01a1f06a-e5eb-7afb-8123-f5b70990d0ff', NULL, NULL, NULL, NULL, 'report', '\xc212dece55bb465338b9a9ac9926e5a9ec9b63200618918537805a2332815794', '\x0193f6b18656aa521b6cfd5b14188b6033651446f106ad243493cf75f164e7ef6fb3450990fd1472df72c2a1893830586f77e37337407b9bd2b25514f993d24fa5456f1299209574d9e69c42f45a0968bc', NULL);
INSERT INTO public.monitors VALUES ('01a1f06a-e7d7-75ca-9fc5-3a61cfa61670', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'search', 'api', '{"type":"api"}', NULL, true, 31536000, NULL, NULL, 1, false, '["eu"]', 'search
eu', '\x6db00ae916efc8cf69bb276d5c507d32a333e9e27a74e8bad701763bba8b0162', '\x0193f6b1867b2939813cdc72d890c1c1fcacffe199fc389f6ee3ba168f43a3dacbe009115f9f5735beb1a244ead26bd658cfaba2919ce309372a4167c1470314dd625d51ad18f6db7b1c1a14e7', 1, 1795034900439, 1795034900439, 534, '["local"]', 'majority', 0, 'critical', 0, 3600, '01a1f06a-e5eb-7afb-8123-f5b70990d0ff', NULL, NULL, NULL, '{"target":99500,"days":30}', NULL, '\xc5efa05b783e348c6b36aac657d5430573052a72895ac2d6270f68e854eb06e4', '\x0193f6b186e60a0da5efaf7fb9ebc62566b49e6efcf4d667073c55c785ef78e2318f022355d875e6013dc72b656ad2c388d67e36df0ae0e0dd932d5567aabe92f6b1f1b97c4006adc742309aa3fcc756a4', NULL);
INSERT INTO public.monitors VALUES ('01a1f06a-e88b-769f-80dc-abd2950aaf9a', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'queue', 'http', '{"type":"http","url":"http://127.0.0.1:9/","method":"GET","accepted":"200","keyword":"","body":"","headers":"","authentication":"none","username":"","ignore_tls_error":false,"certificate_expiry_notification":false,"max_redirects":10}', NULL, false, 3600, NULL, NULL, 1, false, '[]', 'queue
http://127.0.0.1:9/
', NULL, NULL, 1, 1795034900619, 1795034900619, 687, '["local"]', 'majority', 0, 'critical', 0, 3600, NULL, '[{"source":"json","property":"$.depth","comparison":"less_than","target":"1000"}]', NULL, '{"slow":800,"over":3,"of":5,"regions":0,"notify":true}', NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.notifiers VALUES ('01a1f06a-e2e2-7fdc-a267-ce356e5669c8', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'chat', 'webhook', '""', '\x0193f6b18698006ff05c95ebf7367c3bddee6219fef8065b53d8dcafae902a4b0d122109fe6f5158e8c307e7ad97960e55fb5c31cc375afb94b8573ac9a89f9ed7e567cafa64d61a1b8fce2f32a00ec67b4c55768ecf1e67269566620ab19145e5d48de72579e17ff5a6d588604660c8e8e27d37b304ddac876f49333de3fd662daab16f7663a94c8417085d9470975139492fc29a8eb126ef', 1795034899170, 'turned off by its team', 1795034899170, 1795034899170, NULL, NULL, 1, NULL, '', false, NULL, '["monitor.down","monitor.reminder","monitor.up","monitor.certificate_expiring","monitor.domain_expiring","monitor.flapping","monitor.steady","monitor.degraded","monitor.restored","monitor.changed","alert.acknowledged","alert.assigned","alert.escalated","alert.resolved","maintenance.scheduled","maintenance.started","maintenance.ended","oncall.handover","notifier.test"]', false, 'info', NULL, NULL, 0);
INSERT INTO public.pings VALUES ('01a1f06a-e60f-72d1-8637-61b874e05e35', '01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', 1, 1795034899983, 'start', NULL, NULL, 'POST', 'http', '127.0.0.1', 'curl/7.88.1', NULL, 6, '\x0193f6b1868fd8d9a741d2b4887f2c9f7bc5bf4055edb8695ba15df9dbea60353ad75a05b2e2bf330f3c083be237ede4e06818e4a6d11940af66862c');
INSERT INTO public.pings VALUES ('01a1f06a-e631-786c-8275-515b0095ce05', '01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', 2, 1795034900017, 'success', NULL, NULL, 'POST', 'http', '127.0.0.1', 'curl/7.88.1', 49000, 6, '\x0193f6b1869a4bf35a644b3c27b0ff81280759d45a6b7089b153163f378953f55465bbc21c87aa2627373593942d53918b9638735659fe0583d97652');
INSERT INTO public.pings VALUES ('01a1f06a-e66c-7f15-92bd-d507049fca05', '01a1f06a-e5f7-7c06-9bba-a3cb9ef0a48f', 3, 1795034900076, 'fail', NULL, NULL, 'POST', 'http', '127.0.0.1', 'curl/7.88.1', NULL, 6, '\x0193f6b18685ac34cbd16364eab0d5d03ac54c7cc5ab156b8d7d034188e4e56b6165b02ec1e6e704fa8665b5edf304095548b2b63c2156b59e66561f');
INSERT INTO public.policies VALUES ('01a1f06a-e5eb-7afb-8123-f5b70990d0ff', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'on call', '[{"after":0,"notify":[{"everybody":true}]},{"after":3600,"notify":[{"notifierid":"01a1f06a-e2e2-7fdc-a267-ce356e5669c8"}]}]', 1, 1800, 0, 0, 1795034899947, 1795034899947);
INSERT INTO public.schema_migrations VALUES ('0001_accounts', 'e4b8fef04581620324ef6724fd525a1453057256d1879692908dc6d4471b931b');
INSERT INTO public.schema_migrations VALUES ('0002_monitors', '8b4069d84ce39a01c0cdefd8dac9e71fd333ca12d5a9871ae562fd6bcb4b5dce');
INSERT INTO public.schema_migrations VALUES ('0003_notifiers', 'cbb74666c509e3a9ead53086feedaa4f9e325a1264eac785461f50a52a092d1c');
INSERT INTO public.schema_migrations VALUES ('0004_billing', '34c45fa6a72c9938adef1591592614f6cd6c0ba187c44796233b5e27b97fbdec');
INSERT INTO public.schema_migrations VALUES ('0005_monitor_states', 'dcf1a713993eeec99974dbb9558f99b3041d0ebf4e149b204a4a9cca89540f31');
INSERT INTO public.schema_migrations VALUES ('0006_history', '729ad41c771c7ef554d9ffea3deeda853d1274abe0ee172c35f5806e98cd03bc');
INSERT INTO public.schema_migrations VALUES ('0007_nodes', 'eb752680ac77dc116a82bfafb37147fbcdbb19856838c90ca045146b9e241241');
INSERT INTO public.schema_migrations VALUES ('0008_regions', '3d78960da19c364743f48dfe5e387ac9b4ca40a77e0db211009f5a906c65d8c0');
INSERT INTO public.schema_migrations VALUES ('0009_reminders', 'a9673912eec06271917d964ab3d945c2660a376cb3cbe0e952582b234a00d5f3');
INSERT INTO public.schema_migrations VALUES ('0010_over_since', 'cfa0988f7c6a124f6c9c7d95525d31c4b9aa9a3a7bc033ceb857868575f8d445');
INSERT INTO public.schema_migrations VALUES ('0011_sessions', 'dcfdfeac543fbef72de76dbc6e367087e9509814d5ab160f27e2e70b8dd2c9dc');
INSERT INTO public.schema_migrations VALUES ('0012_certificate', '594be3b8f97808d4e67cee6480e33084777597a5a1af5b93c2c84d8917850c28');
INSERT INTO public.schema_migrations VALUES ('0013_history', '89dd68fa74d320422e1eacbb792a35cdb2e78a7415565ccfabacbf94d3fb955f');
INSERT INTO public.schema_migrations VALUES ('0014_notifying', 'ff1ffac35af52ca64a573604efc896ae6b4caafc0b3ab14123c69405ce13c493');
INSERT INTO public.schema_migrations VALUES ('0015_membership', 'bcc50882a836987464b706a1677b1d0b6b03333131f8d3dc121c50b2f61caeee');
INSERT INTO public.schema_migrations VALUES ('0016_notifier_revision', '7d0b4f84d28fd17703ea7584ac6e09bb5bb220f0d777fa5e0d6dc3094ebc3a78');
INSERT INTO public.schema_migrations VALUES ('0017_orphaned', 'f3349bde305f08d8b6820564b1fdeab8560a8d8c2c975e1ef86eb17983addf80');
INSERT INTO public.schema_migrations VALUES ('0018_upkeep', '57f6ddc581c8269a3baca5f90560bed820101b9f8737bdd7892f0eb891165fb8');
INSERT INTO public.schema_migrations VALUES ('0019_left_to', '1c03466ea3e1e57e9a1e2d8bc15f8ae35d0628f8c85d4e7b45bb09bd8d489a6c');
INSERT INTO public.schema_migrations VALUES ('0020_unfinished_claims', 'e1034781b03d33cec2e16ef25c160e9f419704bc31b10f299ad2e37d2649bf67');
INSERT INTO public.schema_migrations VALUES ('0021_credentials', '0ed9712baa3f44bff92285920ea83104206839a7a96d49cc1f20b76dcff5952e');
INSERT INTO public.schema_migrations VALUES ('0022_blocked', '2ddcce5072df220551d26d478f73d38c755b4619c0c3e70b574095393b392ec4');
INSERT INTO public.schema_migrations VALUES ('0023_notifier_health', 'a7ee2be958a860c07cdda4ada6f84a648369cc53054488bf2d6485baad6637fe');
INSERT INTO public.schema_migrations VALUES ('0024_verified_email', '0a0af8d625191ea3f4292e62cd0c1571f383af0bb170795e0b620395eeba129e');
INSERT INTO public.schema_migrations VALUES ('0025_members', '2a56f778e74ad1e4ccd3974770b938a3a84e89e0720636bf1b751c0b6bd46460');
INSERT INTO public.schema_migrations VALUES ('0026_long_requests', '037926ea6c2f27b2157cb6d6fb2b7434f870bb809b768e0663426f1a43d8e6a2');
INSERT INTO public.schema_migrations VALUES ('0027_monitor_filters', 'c3b1b3e55eaaf4195cfb418b4b327f13033b6e8cbb7df6d8c401c981ca584376');
INSERT INTO public.schema_migrations VALUES ('0028_service_accounts', '99a325dc4d2afce981e8a9b4049315af98acb783be0c705f70a6dddff4256612');
INSERT INTO public.schema_migrations VALUES ('0029_audit', 'e15628e64a8d73f4a5cbc695621f441000d4ed97de0e05d97122195c41c4a908');
INSERT INTO public.schema_migrations VALUES ('0030_teams', '5cf07646296c5498e1e961d77dd7a2ff168ac8d346a352e8e4e583844d41e40f');
INSERT INTO public.schema_migrations VALUES ('0031_audit_streams', 'ee0c1bf01f728899eaebd122e7611de3f5fb50320489c9d8a34e20a4f1113f47');
INSERT INTO public.schema_migrations VALUES ('0032_reauthentication', '0a3997a57017de7f9b232d4f001c43ea0257d9338d07d3737bab5f27dddc5d35');
INSERT INTO public.schema_migrations VALUES ('0033_administration', '0f67d205ae1692bc164d1744bab5301b1693b134dc15e0a61132806791f2a0ec');
INSERT INTO public.schema_migrations VALUES ('0034_alerting', 'a612fcd2aeb9852315eb6c08df362f2d1b0da83e7a45789b4b6e25595ccab582');
INSERT INTO public.schema_migrations VALUES ('0035_maintenance', '6af47c08c1db8e3b16fe5cdf973937684e7cec466822925b4d87391f643331b8');
INSERT INTO public.schema_migrations VALUES ('0036_dependencies', 'c1b86da6f2b33b6ffa527914fe9d7169b954b6857f3f33c805cb53229cb20c80');
INSERT INTO public.schema_migrations VALUES ('0037_escalation', '9a89e8809d3cc430082485fb43d4d11e5db9a8f52210922bdcd0aaece759d81c');
INSERT INTO public.schema_migrations VALUES ('0038_turns', '5c236b67eadb354b66b6d4b3c88c6c2eefb7227c205f540fc0f5cded2f150852');
INSERT INTO public.schema_migrations VALUES ('0039_threads', '9f9a9e6668c50ae11c08ae83a29e09d4d066c02106e64a0221ddbf505a6b5008');
INSERT INTO public.schema_migrations VALUES ('0040_announcements', 'bff056421f8e03405085bce1fa1136298ac3ea101f8d9d0373d3613c92dabd67');
INSERT INTO public.schema_migrations VALUES ('0041_bounds', '768d325ab715753083295d18cd45000200e1274627d41d8cecb0440512d22f4d');
INSERT INTO public.schema_migrations VALUES ('0042_digests', '240c5b30085c2a8ed85d613b38f82e3a74acddd23530e6579cbdb9464363ad23');
INSERT INTO public.schema_migrations VALUES ('0043_webpush', '105d61eee3ea3ff7a287bfc1f3f580a0bc90368d57fe1d26e6e6cb49a07b80dd');
INSERT INTO public.schema_migrations VALUES ('0044_alertmanager', 'b3b199136619c7209229e309cd4266b412a11897d448d4525357af681ba8d015');
INSERT INTO public.schema_migrations VALUES ('0045_statuspages', '300ad59d8f76ed1db2164b4ef5fbf7486e325672f544bcc72011fc6c634b93a5');
INSERT INTO public.schema_migrations VALUES ('0046_incidents', '5f12566bee4bf2201926e6b6ac0c3a02bf31928998adb811919d529931b5e423');
INSERT INTO public.schema_migrations VALUES ('0047_assertions', 'c17c386b423d18f8e2975dc37934c0289f9f44066c2d9d665b082a0c0689f53c');
INSERT INTO public.schema_migrations VALUES ('0048_subscribers', '6e75c1c22f0e59a534afdf66ac8459cc958906807a9b4eaa1249ac13b8ca156b');
INSERT INTO public.schema_migrations VALUES ('0049_statuspage_domain_checks', '44464319a1d3fecbc692f5207a0ea4a1d3ba03fd3eb7542bb8b188ab88200bd0');
INSERT INTO public.schema_migrations VALUES ('0050_degraded', '98cadb098f3d6a520511d575537018f7efe86dd4da2cb2725e90244bbf0347d2');
INSERT INTO public.schema_migrations VALUES ('0051_jobs', '59bd7ca618b72850986eea4afd5a4aec012768d83365ffaf6a427843fb8472a1');
INSERT INTO public.schema_migrations VALUES ('0052_known_values', '2ea666d6bf459b850a3d06b3a16f7e41c9368ea11b8a012091d2a59ec128b53e');
INSERT INTO public.sections VALUES ('01a1f06a-ea4b-7b39-a001-0083ad9e694b', '01a1f06a-ea4b-70a8-8fa5-de5569908054', 0, 'Services', '{"description":"","collapsed":null,"texts":{}}');
INSERT INTO public.sessions VALUES ('01a1f06a-e2a8-7da2-afb1-48ea9366493f', '\xc08555c190c7b3270f0bf4cfb37cb0f88aff6ad68f21854028043b8f4ccd4b98', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 1795034899112, 1795034899112, '127.0.0.1', 'curl/7.88.1', NULL, 'full', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'password', 1795034899112);
INSERT INTO public.slots VALUES (0, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1, NULL, 0, NULL);
INSERT INTO public.slots VALUES (2, NULL, 0, NULL);
INSERT INTO public.slots VALUES (3, NULL, 0, NULL);
INSERT INTO public.slots VALUES (4, NULL, 0, NULL);
INSERT INTO public.slots VALUES (5, NULL, 0, NULL);
INSERT INTO public.slots VALUES (6, NULL, 0, NULL);
INSERT INTO public.slots VALUES (7, NULL, 0, NULL);
INSERT INTO public.slots VALUES (8, NULL, 0, NULL);
INSERT INTO public.slots VALUES (9, NULL, 0, NULL);
INSERT INTO public.slots VALUES (10, NULL, 0, NULL);
INSERT INTO public.slots VALUES (11, NULL, 0, NULL);
INSERT INTO public.slots VALUES (12, NULL, 0, NULL);
INSERT INTO public.slots VALUES (13, NULL, 0, NULL);
INSERT INTO public.slots VALUES (14, NULL, 0, NULL);
INSERT INTO public.slots VALUES (15, NULL, 0, NULL);
INSERT INTO public.slots VALUES (16, NULL, 0, NULL);
INSERT INTO public.slots VALUES (17, NULL, 0, NULL);
INSERT INTO public.slots VALUES (18, NULL, 0, NULL);
INSERT INTO public.slots VALUES (19, NULL, 0, NULL);
INSERT INTO public.slots VALUES (20, NULL, 0, NULL);
INSERT INTO public.slots VALUES (21, NULL, 0, NULL);
INSERT INTO public.slots VALUES (22, NULL, 0, NULL);
INSERT INTO public.slots VALUES (23, NULL, 0, NULL);
INSERT INTO public.slots VALUES (24, NULL, 0, NULL);
INSERT INTO public.slots VALUES (25, NULL, 0, NULL);
INSERT INTO public.slots VALUES (26, NULL, 0, NULL);
INSERT INTO public.slots VALUES (27, NULL, 0, NULL);
INSERT INTO public.slots VALUES (28, NULL, 0, NULL);
INSERT INTO public.slots VALUES (29, NULL, 0, NULL);
INSERT INTO public.slots VALUES (30, NULL, 0, NULL);
INSERT INTO public.slots VALUES (31, NULL, 0, NULL);
INSERT INTO public.slots VALUES (32, NULL, 0, NULL);
INSERT INTO public.slots VALUES (33, NULL, 0, NULL);
INSERT INTO public.slots VALUES (34, NULL, 0, NULL);
INSERT INTO public.slots VALUES (35, NULL, 0, NULL);
INSERT INTO public.slots VALUES (36, NULL, 0, NULL);
INSERT INTO public.slots VALUES (37, NULL, 0, NULL);
INSERT INTO public.slots VALUES (38, NULL, 0, NULL);
INSERT INTO public.slots VALUES (39, NULL, 0, NULL);
INSERT INTO public.slots VALUES (40, NULL, 0, NULL);
INSERT INTO public.slots VALUES (41, NULL, 0, NULL);
INSERT INTO public.slots VALUES (42, NULL, 0, NULL);
INSERT INTO public.slots VALUES (43, NULL, 0, NULL);
INSERT INTO public.slots VALUES (44, NULL, 0, NULL);
INSERT INTO public.slots VALUES (45, NULL, 0, NULL);
INSERT INTO public.slots VALUES (46, NULL, 0, NULL);
INSERT INTO public.slots VALUES (47, NULL, 0, NULL);
INSERT INTO public.slots VALUES (48, NULL, 0, NULL);
INSERT INTO public.slots VALUES (49, NULL, 0, NULL);
INSERT INTO public.slots VALUES (50, NULL, 0, NULL);
INSERT INTO public.slots VALUES (51, NULL, 0, NULL);
INSERT INTO public.slots VALUES (52, NULL, 0, NULL);
INSERT INTO public.slots VALUES (53, NULL, 0, NULL);
INSERT INTO public.slots VALUES (54, NULL, 0, NULL);
INSERT INTO public.slots VALUES (55, NULL, 0, NULL);
INSERT INTO public.slots VALUES (56, NULL, 0, NULL);
INSERT INTO public.slots VALUES (57, NULL, 0, NULL);
INSERT INTO public.slots VALUES (58, NULL, 0, NULL);
INSERT INTO public.slots VALUES (59, NULL, 0, NULL);
INSERT INTO public.slots VALUES (60, NULL, 0, NULL);
INSERT INTO public.slots VALUES (61, NULL, 0, NULL);
INSERT INTO public.slots VALUES (62, NULL, 0, NULL);
INSERT INTO public.slots VALUES (63, NULL, 0, NULL);
INSERT INTO public.slots VALUES (64, NULL, 0, NULL);
INSERT INTO public.slots VALUES (65, NULL, 0, NULL);
INSERT INTO public.slots VALUES (66, NULL, 0, NULL);
INSERT INTO public.slots VALUES (67, NULL, 0, NULL);
INSERT INTO public.slots VALUES (68, NULL, 0, NULL);
INSERT INTO public.slots VALUES (69, NULL, 0, NULL);
INSERT INTO public.slots VALUES (70, NULL, 0, NULL);
INSERT INTO public.slots VALUES (71, NULL, 0, NULL);
INSERT INTO public.slots VALUES (72, NULL, 0, NULL);
INSERT INTO public.slots VALUES (73, NULL, 0, NULL);
INSERT INTO public.slots VALUES (74, NULL, 0, NULL);
INSERT INTO public.slots VALUES (75, NULL, 0, NULL);
INSERT INTO public.slots VALUES (76, NULL, 0, NULL);
INSERT INTO public.slots VALUES (77, NULL, 0, NULL);
INSERT INTO public.slots VALUES (78, NULL, 0, NULL);
INSERT INTO public.slots VALUES (79, NULL, 0, NULL);
INSERT INTO public.slots VALUES (80, NULL, 0, NULL);
INSERT INTO public.slots VALUES (81, NULL, 0, NULL);
INSERT INTO public.slots VALUES (82, NULL, 0, NULL);
INSERT INTO public.slots VALUES (83, NULL, 0, NULL);
INSERT INTO public.slots VALUES (84, NULL, 0, NULL);
INSERT INTO public.slots VALUES (85, NULL, 0, NULL);
INSERT INTO public.slots VALUES (86, NULL, 0, NULL);
INSERT INTO public.slots VALUES (87, NULL, 0, NULL);
INSERT INTO public.slots VALUES (88, NULL, 0, NULL);
INSERT INTO public.slots VALUES (89, NULL, 0, NULL);
INSERT INTO public.slots VALUES (90, NULL, 0, NULL);
INSERT INTO public.slots VALUES (91, NULL, 0, NULL);
INSERT INTO public.slots VALUES (92, NULL, 0, NULL);
INSERT INTO public.slots VALUES (93, NULL, 0, NULL);
INSERT INTO public.slots VALUES (94, NULL, 0, NULL);
INSERT INTO public.slots VALUES (95, NULL, 0, NULL);
INSERT INTO public.slots VALUES (96, NULL, 0, NULL);
INSERT INTO public.slots VALUES (97, NULL, 0, NULL);
INSERT INTO public.slots VALUES (98, NULL, 0, NULL);
INSERT INTO public.slots VALUES (99, NULL, 0, NULL);
INSERT INTO public.slots VALUES (100, NULL, 0, NULL);
INSERT INTO public.slots VALUES (101, NULL, 0, NULL);
INSERT INTO public.slots VALUES (102, NULL, 0, NULL);
INSERT INTO public.slots VALUES (103, NULL, 0, NULL);
INSERT INTO public.slots VALUES (104, NULL, 0, NULL);
INSERT INTO public.slots VALUES (105, NULL, 0, NULL);
INSERT INTO public.slots VALUES (106, NULL, 0, NULL);
INSERT INTO public.slots VALUES (107, NULL, 0, NULL);
INSERT INTO public.slots VALUES (108, NULL, 0, NULL);
INSERT INTO public.slots VALUES (109, NULL, 0, NULL);
INSERT INTO public.slots VALUES (110, NULL, 0, NULL);
INSERT INTO public.slots VALUES (111, NULL, 0, NULL);
INSERT INTO public.slots VALUES (112, NULL, 0, NULL);
INSERT INTO public.slots VALUES (113, NULL, 0, NULL);
INSERT INTO public.slots VALUES (114, NULL, 0, NULL);
INSERT INTO public.slots VALUES (115, NULL, 0, NULL);
INSERT INTO public.slots VALUES (116, NULL, 0, NULL);
INSERT INTO public.slots VALUES (117, NULL, 0, NULL);
INSERT INTO public.slots VALUES (118, NULL, 0, NULL);
INSERT INTO public.slots VALUES (119, NULL, 0, NULL);
INSERT INTO public.slots VALUES (120, NULL, 0, NULL);
INSERT INTO public.slots VALUES (121, NULL, 0, NULL);
INSERT INTO public.slots VALUES (122, NULL, 0, NULL);
INSERT INTO public.slots VALUES (123, NULL, 0, NULL);
INSERT INTO public.slots VALUES (124, NULL, 0, NULL);
INSERT INTO public.slots VALUES (125, NULL, 0, NULL);
INSERT INTO public.slots VALUES (126, NULL, 0, NULL);
INSERT INTO public.slots VALUES (127, NULL, 0, NULL);
INSERT INTO public.slots VALUES (128, NULL, 0, NULL);
INSERT INTO public.slots VALUES (129, NULL, 0, NULL);
INSERT INTO public.slots VALUES (130, NULL, 0, NULL);
INSERT INTO public.slots VALUES (131, NULL, 0, NULL);
INSERT INTO public.slots VALUES (132, NULL, 0, NULL);
INSERT INTO public.slots VALUES (133, NULL, 0, NULL);
INSERT INTO public.slots VALUES (134, NULL, 0, NULL);
INSERT INTO public.slots VALUES (135, NULL, 0, NULL);
INSERT INTO public.slots VALUES (136, NULL, 0, NULL);
INSERT INTO public.slots VALUES (137, NULL, 0, NULL);
INSERT INTO public.slots VALUES (138, NULL, 0, NULL);
INSERT INTO public.slots VALUES (139, NULL, 0, NULL);
INSERT INTO public.slots VALUES (140, NULL, 0, NULL);
INSERT INTO public.slots VALUES (141, NULL, 0, NULL);
INSERT INTO public.slots VALUES (142, NULL, 0, NULL);
INSERT INTO public.slots VALUES (143, NULL, 0, NULL);
INSERT INTO public.slots VALUES (144, NULL, 0, NULL);
INSERT INTO public.slots VALUES (145, NULL, 0, NULL);
INSERT INTO public.slots VALUES (146, NULL, 0, NULL);
INSERT INTO public.slots VALUES (147, NULL, 0, NULL);
INSERT INTO public.slots VALUES (148, NULL, 0, NULL);
INSERT INTO public.slots VALUES (149, NULL, 0, NULL);
INSERT INTO public.slots VALUES (150, NULL, 0, NULL);
INSERT INTO public.slots VALUES (151, NULL, 0, NULL);
INSERT INTO public.slots VALUES (152, NULL, 0, NULL);
INSERT INTO public.slots VALUES (153, NULL, 0, NULL);
INSERT INTO public.slots VALUES (154, NULL, 0, NULL);
INSERT INTO public.slots VALUES (155, NULL, 0, NULL);
INSERT INTO public.slots VALUES (156, NULL, 0, NULL);
INSERT INTO public.slots VALUES (157, NULL, 0, NULL);
INSERT INTO public.slots VALUES (158, NULL, 0, NULL);
INSERT INTO public.slots VALUES (159, NULL, 0, NULL);
INSERT INTO public.slots VALUES (160, NULL, 0, NULL);
INSERT INTO public.slots VALUES (161, NULL, 0, NULL);
INSERT INTO public.slots VALUES (162, NULL, 0, NULL);
INSERT INTO public.slots VALUES (163, NULL, 0, NULL);
INSERT INTO public.slots VALUES (164, NULL, 0, NULL);
INSERT INTO public.slots VALUES (165, NULL, 0, NULL);
INSERT INTO public.slots VALUES (166, NULL, 0, NULL);
INSERT INTO public.slots VALUES (167, NULL, 0, NULL);
INSERT INTO public.slots VALUES (168, NULL, 0, NULL);
INSERT INTO public.slots VALUES (169, NULL, 0, NULL);
INSERT INTO public.slots VALUES (170, NULL, 0, NULL);
INSERT INTO public.slots VALUES (171, NULL, 0, NULL);
INSERT INTO public.slots VALUES (172, NULL, 0, NULL);
INSERT INTO public.slots VALUES (173, NULL, 0, NULL);
INSERT INTO public.slots VALUES (174, NULL, 0, NULL);
INSERT INTO public.slots VALUES (175, NULL, 0, NULL);
INSERT INTO public.slots VALUES (176, NULL, 0, NULL);
INSERT INTO public.slots VALUES (177, NULL, 0, NULL);
INSERT INTO public.slots VALUES (178, NULL, 0, NULL);
INSERT INTO public.slots VALUES (179, NULL, 0, NULL);
INSERT INTO public.slots VALUES (180, NULL, 0, NULL);
INSERT INTO public.slots VALUES (181, NULL, 0, NULL);
INSERT INTO public.slots VALUES (182, NULL, 0, NULL);
INSERT INTO public.slots VALUES (183, NULL, 0, NULL);
INSERT INTO public.slots VALUES (184, NULL, 0, NULL);
INSERT INTO public.slots VALUES (185, NULL, 0, NULL);
INSERT INTO public.slots VALUES (186, NULL, 0, NULL);
INSERT INTO public.slots VALUES (187, NULL, 0, NULL);
INSERT INTO public.slots VALUES (188, NULL, 0, NULL);
INSERT INTO public.slots VALUES (189, NULL, 0, NULL);
INSERT INTO public.slots VALUES (190, NULL, 0, NULL);
INSERT INTO public.slots VALUES (191, NULL, 0, NULL);
INSERT INTO public.slots VALUES (192, NULL, 0, NULL);
INSERT INTO public.slots VALUES (193, NULL, 0, NULL);
INSERT INTO public.slots VALUES (194, NULL, 0, NULL);
INSERT INTO public.slots VALUES (195, NULL, 0, NULL);
INSERT INTO public.slots VALUES (196, NULL, 0, NULL);
INSERT INTO public.slots VALUES (197, NULL, 0, NULL);
INSERT INTO public.slots VALUES (198, NULL, 0, NULL);
INSERT INTO public.slots VALUES (199, NULL, 0, NULL);
INSERT INTO public.slots VALUES (200, NULL, 0, NULL);
INSERT INTO public.slots VALUES (201, NULL, 0, NULL);
INSERT INTO public.slots VALUES (202, NULL, 0, NULL);
INSERT INTO public.slots VALUES (203, NULL, 0, NULL);
INSERT INTO public.slots VALUES (204, NULL, 0, NULL);
INSERT INTO public.slots VALUES (205, NULL, 0, NULL);
INSERT INTO public.slots VALUES (206, NULL, 0, NULL);
INSERT INTO public.slots VALUES (207, NULL, 0, NULL);
INSERT INTO public.slots VALUES (208, NULL, 0, NULL);
INSERT INTO public.slots VALUES (209, NULL, 0, NULL);
INSERT INTO public.slots VALUES (210, NULL, 0, NULL);
INSERT INTO public.slots VALUES (211, NULL, 0, NULL);
INSERT INTO public.slots VALUES (212, NULL, 0, NULL);
INSERT INTO public.slots VALUES (213, NULL, 0, NULL);
INSERT INTO public.slots VALUES (214, NULL, 0, NULL);
INSERT INTO public.slots VALUES (215, NULL, 0, NULL);
INSERT INTO public.slots VALUES (216, NULL, 0, NULL);
INSERT INTO public.slots VALUES (217, NULL, 0, NULL);
INSERT INTO public.slots VALUES (218, NULL, 0, NULL);
INSERT INTO public.slots VALUES (219, NULL, 0, NULL);
INSERT INTO public.slots VALUES (220, NULL, 0, NULL);
INSERT INTO public.slots VALUES (221, NULL, 0, NULL);
INSERT INTO public.slots VALUES (222, NULL, 0, NULL);
INSERT INTO public.slots VALUES (223, NULL, 0, NULL);
INSERT INTO public.slots VALUES (224, NULL, 0, NULL);
INSERT INTO public.slots VALUES (225, NULL, 0, NULL);
INSERT INTO public.slots VALUES (226, NULL, 0, NULL);
INSERT INTO public.slots VALUES (227, NULL, 0, NULL);
INSERT INTO public.slots VALUES (228, NULL, 0, NULL);
INSERT INTO public.slots VALUES (229, NULL, 0, NULL);
INSERT INTO public.slots VALUES (230, NULL, 0, NULL);
INSERT INTO public.slots VALUES (231, NULL, 0, NULL);
INSERT INTO public.slots VALUES (232, NULL, 0, NULL);
INSERT INTO public.slots VALUES (233, NULL, 0, NULL);
INSERT INTO public.slots VALUES (234, NULL, 0, NULL);
INSERT INTO public.slots VALUES (235, NULL, 0, NULL);
INSERT INTO public.slots VALUES (236, NULL, 0, NULL);
INSERT INTO public.slots VALUES (237, NULL, 0, NULL);
INSERT INTO public.slots VALUES (238, NULL, 0, NULL);
INSERT INTO public.slots VALUES (239, NULL, 0, NULL);
INSERT INTO public.slots VALUES (240, NULL, 0, NULL);
INSERT INTO public.slots VALUES (241, NULL, 0, NULL);
INSERT INTO public.slots VALUES (242, NULL, 0, NULL);
INSERT INTO public.slots VALUES (243, NULL, 0, NULL);
INSERT INTO public.slots VALUES (244, NULL, 0, NULL);
INSERT INTO public.slots VALUES (245, NULL, 0, NULL);
INSERT INTO public.slots VALUES (246, NULL, 0, NULL);
INSERT INTO public.slots VALUES (247, NULL, 0, NULL);
INSERT INTO public.slots VALUES (248, NULL, 0, NULL);
INSERT INTO public.slots VALUES (249, NULL, 0, NULL);
INSERT INTO public.slots VALUES (250, NULL, 0, NULL);
INSERT INTO public.slots VALUES (251, NULL, 0, NULL);
INSERT INTO public.slots VALUES (252, NULL, 0, NULL);
INSERT INTO public.slots VALUES (253, NULL, 0, NULL);
INSERT INTO public.slots VALUES (254, NULL, 0, NULL);
INSERT INTO public.slots VALUES (255, NULL, 0, NULL);
INSERT INTO public.slots VALUES (256, NULL, 0, NULL);
INSERT INTO public.slots VALUES (257, NULL, 0, NULL);
INSERT INTO public.slots VALUES (258, NULL, 0, NULL);
INSERT INTO public.slots VALUES (259, NULL, 0, NULL);
INSERT INTO public.slots VALUES (260, NULL, 0, NULL);
INSERT INTO public.slots VALUES (261, NULL, 0, NULL);
INSERT INTO public.slots VALUES (262, NULL, 0, NULL);
INSERT INTO public.slots VALUES (263, NULL, 0, NULL);
INSERT INTO public.slots VALUES (264, NULL, 0, NULL);
INSERT INTO public.slots VALUES (265, NULL, 0, NULL);
INSERT INTO public.slots VALUES (266, NULL, 0, NULL);
INSERT INTO public.slots VALUES (267, NULL, 0, NULL);
INSERT INTO public.slots VALUES (268, NULL, 0, NULL);
INSERT INTO public.slots VALUES (269, NULL, 0, NULL);
INSERT INTO public.slots VALUES (270, NULL, 0, NULL);
INSERT INTO public.slots VALUES (271, NULL, 0, NULL);
INSERT INTO public.slots VALUES (272, NULL, 0, NULL);
INSERT INTO public.slots VALUES (273, NULL, 0, NULL);
INSERT INTO public.slots VALUES (274, NULL, 0, NULL);
INSERT INTO public.slots VALUES (275, NULL, 0, NULL);
INSERT INTO public.slots VALUES (276, NULL, 0, NULL);
INSERT INTO public.slots VALUES (277, NULL, 0, NULL);
INSERT INTO public.slots VALUES (278, NULL, 0, NULL);
INSERT INTO public.slots VALUES (279, NULL, 0, NULL);
INSERT INTO public.slots VALUES (280, NULL, 0, NULL);
INSERT INTO public.slots VALUES (281, NULL, 0, NULL);
INSERT INTO public.slots VALUES (282, NULL, 0, NULL);
INSERT INTO public.slots VALUES (283, NULL, 0, NULL);
INSERT INTO public.slots VALUES (284, NULL, 0, NULL);
INSERT INTO public.slots VALUES (285, NULL, 0, NULL);
INSERT INTO public.slots VALUES (286, NULL, 0, NULL);
INSERT INTO public.slots VALUES (287, NULL, 0, NULL);
INSERT INTO public.slots VALUES (288, NULL, 0, NULL);
INSERT INTO public.slots VALUES (289, NULL, 0, NULL);
INSERT INTO public.slots VALUES (290, NULL, 0, NULL);
INSERT INTO public.slots VALUES (291, NULL, 0, NULL);
INSERT INTO public.slots VALUES (292, NULL, 0, NULL);
INSERT INTO public.slots VALUES (293, NULL, 0, NULL);
INSERT INTO public.slots VALUES (294, NULL, 0, NULL);
INSERT INTO public.slots VALUES (295, NULL, 0, NULL);
INSERT INTO public.slots VALUES (296, NULL, 0, NULL);
INSERT INTO public.slots VALUES (297, NULL, 0, NULL);
INSERT INTO public.slots VALUES (298, NULL, 0, NULL);
INSERT INTO public.slots VALUES (299, NULL, 0, NULL);
INSERT INTO public.slots VALUES (300, NULL, 0, NULL);
INSERT INTO public.slots VALUES (301, NULL, 0, NULL);
INSERT INTO public.slots VALUES (302, NULL, 0, NULL);
INSERT INTO public.slots VALUES (303, NULL, 0, NULL);
INSERT INTO public.slots VALUES (304, NULL, 0, NULL);
INSERT INTO public.slots VALUES (305, NULL, 0, NULL);
INSERT INTO public.slots VALUES (306, NULL, 0, NULL);
INSERT INTO public.slots VALUES (307, NULL, 0, NULL);
INSERT INTO public.slots VALUES (308, NULL, 0, NULL);
INSERT INTO public.slots VALUES (309, NULL, 0, NULL);
INSERT INTO public.slots VALUES (310, NULL, 0, NULL);
INSERT INTO public.slots VALUES (311, NULL, 0, NULL);
INSERT INTO public.slots VALUES (312, NULL, 0, NULL);
INSERT INTO public.slots VALUES (313, NULL, 0, NULL);
INSERT INTO public.slots VALUES (314, NULL, 0, NULL);
INSERT INTO public.slots VALUES (315, NULL, 0, NULL);
INSERT INTO public.slots VALUES (316, NULL, 0, NULL);
INSERT INTO public.slots VALUES (317, NULL, 0, NULL);
INSERT INTO public.slots VALUES (318, NULL, 0, NULL);
INSERT INTO public.slots VALUES (319, NULL, 0, NULL);
INSERT INTO public.slots VALUES (320, NULL, 0, NULL);
INSERT INTO public.slots VALUES (321, NULL, 0, NULL);
INSERT INTO public.slots VALUES (322, NULL, 0, NULL);
INSERT INTO public.slots VALUES (323, NULL, 0, NULL);
INSERT INTO public.slots VALUES (324, NULL, 0, NULL);
INSERT INTO public.slots VALUES (325, NULL, 0, NULL);
INSERT INTO public.slots VALUES (326, NULL, 0, NULL);
INSERT INTO public.slots VALUES (327, NULL, 0, NULL);
INSERT INTO public.slots VALUES (328, NULL, 0, NULL);
INSERT INTO public.slots VALUES (329, NULL, 0, NULL);
INSERT INTO public.slots VALUES (330, NULL, 0, NULL);
INSERT INTO public.slots VALUES (331, NULL, 0, NULL);
INSERT INTO public.slots VALUES (332, NULL, 0, NULL);
INSERT INTO public.slots VALUES (333, NULL, 0, NULL);
INSERT INTO public.slots VALUES (334, NULL, 0, NULL);
INSERT INTO public.slots VALUES (335, NULL, 0, NULL);
INSERT INTO public.slots VALUES (336, NULL, 0, NULL);
INSERT INTO public.slots VALUES (337, NULL, 0, NULL);
INSERT INTO public.slots VALUES (338, NULL, 0, NULL);
INSERT INTO public.slots VALUES (339, NULL, 0, NULL);
INSERT INTO public.slots VALUES (340, NULL, 0, NULL);
INSERT INTO public.slots VALUES (341, NULL, 0, NULL);
INSERT INTO public.slots VALUES (342, NULL, 0, NULL);
INSERT INTO public.slots VALUES (343, NULL, 0, NULL);
INSERT INTO public.slots VALUES (344, NULL, 0, NULL);
INSERT INTO public.slots VALUES (345, NULL, 0, NULL);
INSERT INTO public.slots VALUES (346, NULL, 0, NULL);
INSERT INTO public.slots VALUES (347, NULL, 0, NULL);
INSERT INTO public.slots VALUES (348, NULL, 0, NULL);
INSERT INTO public.slots VALUES (349, NULL, 0, NULL);
INSERT INTO public.slots VALUES (350, NULL, 0, NULL);
INSERT INTO public.slots VALUES (351, NULL, 0, NULL);
INSERT INTO public.slots VALUES (352, NULL, 0, NULL);
INSERT INTO public.slots VALUES (353, NULL, 0, NULL);
INSERT INTO public.slots VALUES (354, NULL, 0, NULL);
INSERT INTO public.slots VALUES (355, NULL, 0, NULL);
INSERT INTO public.slots VALUES (356, NULL, 0, NULL);
INSERT INTO public.slots VALUES (357, NULL, 0, NULL);
INSERT INTO public.slots VALUES (358, NULL, 0, NULL);
INSERT INTO public.slots VALUES (359, NULL, 0, NULL);
INSERT INTO public.slots VALUES (360, NULL, 0, NULL);
INSERT INTO public.slots VALUES (361, NULL, 0, NULL);
INSERT INTO public.slots VALUES (362, NULL, 0, NULL);
INSERT INTO public.slots VALUES (363, NULL, 0, NULL);
INSERT INTO public.slots VALUES (364, NULL, 0, NULL);
INSERT INTO public.slots VALUES (365, NULL, 0, NULL);
INSERT INTO public.slots VALUES (366, NULL, 0, NULL);
INSERT INTO public.slots VALUES (367, NULL, 0, NULL);
INSERT INTO public.slots VALUES (368, NULL, 0, NULL);
INSERT INTO public.slots VALUES (369, NULL, 0, NULL);
INSERT INTO public.slots VALUES (370, NULL, 0, NULL);
INSERT INTO public.slots VALUES (371, NULL, 0, NULL);
INSERT INTO public.slots VALUES (372, NULL, 0, NULL);
INSERT INTO public.slots VALUES (373, NULL, 0, NULL);
INSERT INTO public.slots VALUES (374, NULL, 0, NULL);
INSERT INTO public.slots VALUES (375, NULL, 0, NULL);
INSERT INTO public.slots VALUES (376, NULL, 0, NULL);
INSERT INTO public.slots VALUES (377, NULL, 0, NULL);
INSERT INTO public.slots VALUES (378, NULL, 0, NULL);
INSERT INTO public.slots VALUES (379, NULL, 0, NULL);
INSERT INTO public.slots VALUES (380, NULL, 0, NULL);
INSERT INTO public.slots VALUES (381, NULL, 0, NULL);
INSERT INTO public.slots VALUES (382, NULL, 0, NULL);
INSERT INTO public.slots VALUES (383, NULL, 0, NULL);
INSERT INTO public.slots VALUES (384, NULL, 0, NULL);
INSERT INTO public.slots VALUES (385, NULL, 0, NULL);
INSERT INTO public.slots VALUES (386, NULL, 0, NULL);
INSERT INTO public.slots VALUES (387, NULL, 0, NULL);
INSERT INTO public.slots VALUES (388, NULL, 0, NULL);
INSERT INTO public.slots VALUES (389, NULL, 0, NULL);
INSERT INTO public.slots VALUES (390, NULL, 0, NULL);
INSERT INTO public.slots VALUES (391, NULL, 0, NULL);
INSERT INTO public.slots VALUES (392, NULL, 0, NULL);
INSERT INTO public.slots VALUES (393, NULL, 0, NULL);
INSERT INTO public.slots VALUES (394, NULL, 0, NULL);
INSERT INTO public.slots VALUES (395, NULL, 0, NULL);
INSERT INTO public.slots VALUES (396, NULL, 0, NULL);
INSERT INTO public.slots VALUES (397, NULL, 0, NULL);
INSERT INTO public.slots VALUES (398, NULL, 0, NULL);
INSERT INTO public.slots VALUES (399, NULL, 0, NULL);
INSERT INTO public.slots VALUES (400, NULL, 0, NULL);
INSERT INTO public.slots VALUES (401, NULL, 0, NULL);
INSERT INTO public.slots VALUES (402, NULL, 0, NULL);
INSERT INTO public.slots VALUES (403, NULL, 0, NULL);
INSERT INTO public.slots VALUES (404, NULL, 0, NULL);
INSERT INTO public.slots VALUES (405, NULL, 0, NULL);
INSERT INTO public.slots VALUES (406, NULL, 0, NULL);
INSERT INTO public.slots VALUES (407, NULL, 0, NULL);
INSERT INTO public.slots VALUES (408, NULL, 0, NULL);
INSERT INTO public.slots VALUES (409, NULL, 0, NULL);
INSERT INTO public.slots VALUES (410, NULL, 0, NULL);
INSERT INTO public.slots VALUES (411, NULL, 0, NULL);
INSERT INTO public.slots VALUES (412, NULL, 0, NULL);
INSERT INTO public.slots VALUES (413, NULL, 0, NULL);
INSERT INTO public.slots VALUES (414, NULL, 0, NULL);
INSERT INTO public.slots VALUES (415, NULL, 0, NULL);
INSERT INTO public.slots VALUES (416, NULL, 0, NULL);
INSERT INTO public.slots VALUES (417, NULL, 0, NULL);
INSERT INTO public.slots VALUES (418, NULL, 0, NULL);
INSERT INTO public.slots VALUES (419, NULL, 0, NULL);
INSERT INTO public.slots VALUES (420, NULL, 0, NULL);
INSERT INTO public.slots VALUES (421, NULL, 0, NULL);
INSERT INTO public.slots VALUES (422, NULL, 0, NULL);
INSERT INTO public.slots VALUES (423, NULL, 0, NULL);
INSERT INTO public.slots VALUES (424, NULL, 0, NULL);
INSERT INTO public.slots VALUES (425, NULL, 0, NULL);
INSERT INTO public.slots VALUES (426, NULL, 0, NULL);
INSERT INTO public.slots VALUES (427, NULL, 0, NULL);
INSERT INTO public.slots VALUES (428, NULL, 0, NULL);
INSERT INTO public.slots VALUES (429, NULL, 0, NULL);
INSERT INTO public.slots VALUES (430, NULL, 0, NULL);
INSERT INTO public.slots VALUES (431, NULL, 0, NULL);
INSERT INTO public.slots VALUES (432, NULL, 0, NULL);
INSERT INTO public.slots VALUES (433, NULL, 0, NULL);
INSERT INTO public.slots VALUES (434, NULL, 0, NULL);
INSERT INTO public.slots VALUES (435, NULL, 0, NULL);
INSERT INTO public.slots VALUES (436, NULL, 0, NULL);
INSERT INTO public.slots VALUES (437, NULL, 0, NULL);
INSERT INTO public.slots VALUES (438, NULL, 0, NULL);
INSERT INTO public.slots VALUES (439, NULL, 0, NULL);
INSERT INTO public.slots VALUES (440, NULL, 0, NULL);
INSERT INTO public.slots VALUES (441, NULL, 0, NULL);
INSERT INTO public.slots VALUES (442, NULL, 0, NULL);
INSERT INTO public.slots VALUES (443, NULL, 0, NULL);
INSERT INTO public.slots VALUES (444, NULL, 0, NULL);
INSERT INTO public.slots VALUES (445, NULL, 0, NULL);
INSERT INTO public.slots VALUES (446, NULL, 0, NULL);
INSERT INTO public.slots VALUES (447, NULL, 0, NULL);
INSERT INTO public.slots VALUES (448, NULL, 0, NULL);
INSERT INTO public.slots VALUES (449, NULL, 0, NULL);
INSERT INTO public.slots VALUES (450, NULL, 0, NULL);
INSERT INTO public.slots VALUES (451, NULL, 0, NULL);
INSERT INTO public.slots VALUES (452, NULL, 0, NULL);
INSERT INTO public.slots VALUES (453, NULL, 0, NULL);
INSERT INTO public.slots VALUES (454, NULL, 0, NULL);
INSERT INTO public.slots VALUES (455, NULL, 0, NULL);
INSERT INTO public.slots VALUES (456, NULL, 0, NULL);
INSERT INTO public.slots VALUES (457, NULL, 0, NULL);
INSERT INTO public.slots VALUES (458, NULL, 0, NULL);
INSERT INTO public.slots VALUES (459, NULL, 0, NULL);
INSERT INTO public.slots VALUES (460, NULL, 0, NULL);
INSERT INTO public.slots VALUES (461, NULL, 0, NULL);
INSERT INTO public.slots VALUES (462, NULL, 0, NULL);
INSERT INTO public.slots VALUES (463, NULL, 0, NULL);
INSERT INTO public.slots VALUES (464, NULL, 0, NULL);
INSERT INTO public.slots VALUES (465, NULL, 0, NULL);
INSERT INTO public.slots VALUES (466, NULL, 0, NULL);
INSERT INTO public.slots VALUES (467, NULL, 0, NULL);
INSERT INTO public.slots VALUES (468, NULL, 0, NULL);
INSERT INTO public.slots VALUES (469, NULL, 0, NULL);
INSERT INTO public.slots VALUES (470, NULL, 0, NULL);
INSERT INTO public.slots VALUES (471, NULL, 0, NULL);
INSERT INTO public.slots VALUES (472, NULL, 0, NULL);
INSERT INTO public.slots VALUES (473, NULL, 0, NULL);
INSERT INTO public.slots VALUES (474, NULL, 0, NULL);
INSERT INTO public.slots VALUES (475, NULL, 0, NULL);
INSERT INTO public.slots VALUES (476, NULL, 0, NULL);
INSERT INTO public.slots VALUES (477, NULL, 0, NULL);
INSERT INTO public.slots VALUES (478, NULL, 0, NULL);
INSERT INTO public.slots VALUES (479, NULL, 0, NULL);
INSERT INTO public.slots VALUES (480, NULL, 0, NULL);
INSERT INTO public.slots VALUES (481, NULL, 0, NULL);
INSERT INTO public.slots VALUES (482, NULL, 0, NULL);
INSERT INTO public.slots VALUES (483, NULL, 0, NULL);
INSERT INTO public.slots VALUES (484, NULL, 0, NULL);
INSERT INTO public.slots VALUES (485, NULL, 0, NULL);
INSERT INTO public.slots VALUES (486, NULL, 0, NULL);
INSERT INTO public.slots VALUES (487, NULL, 0, NULL);
INSERT INTO public.slots VALUES (488, NULL, 0, NULL);
INSERT INTO public.slots VALUES (489, NULL, 0, NULL);
INSERT INTO public.slots VALUES (490, NULL, 0, NULL);
INSERT INTO public.slots VALUES (491, NULL, 0, NULL);
INSERT INTO public.slots VALUES (492, NULL, 0, NULL);
INSERT INTO public.slots VALUES (493, NULL, 0, NULL);
INSERT INTO public.slots VALUES (494, NULL, 0, NULL);
INSERT INTO public.slots VALUES (495, NULL, 0, NULL);
INSERT INTO public.slots VALUES (496, NULL, 0, NULL);
INSERT INTO public.slots VALUES (497, NULL, 0, NULL);
INSERT INTO public.slots VALUES (498, NULL, 0, NULL);
INSERT INTO public.slots VALUES (499, NULL, 0, NULL);
INSERT INTO public.slots VALUES (500, NULL, 0, NULL);
INSERT INTO public.slots VALUES (501, NULL, 0, NULL);
INSERT INTO public.slots VALUES (502, NULL, 0, NULL);
INSERT INTO public.slots VALUES (503, NULL, 0, NULL);
INSERT INTO public.slots VALUES (504, NULL, 0, NULL);
INSERT INTO public.slots VALUES (505, NULL, 0, NULL);
INSERT INTO public.slots VALUES (506, NULL, 0, NULL);
INSERT INTO public.slots VALUES (507, NULL, 0, NULL);
INSERT INTO public.slots VALUES (508, NULL, 0, NULL);
INSERT INTO public.slots VALUES (509, NULL, 0, NULL);
INSERT INTO public.slots VALUES (510, NULL, 0, NULL);
INSERT INTO public.slots VALUES (511, NULL, 0, NULL);
INSERT INTO public.slots VALUES (512, NULL, 0, NULL);
INSERT INTO public.slots VALUES (513, NULL, 0, NULL);
INSERT INTO public.slots VALUES (514, NULL, 0, NULL);
INSERT INTO public.slots VALUES (515, NULL, 0, NULL);
INSERT INTO public.slots VALUES (516, NULL, 0, NULL);
INSERT INTO public.slots VALUES (517, NULL, 0, NULL);
INSERT INTO public.slots VALUES (518, NULL, 0, NULL);
INSERT INTO public.slots VALUES (519, NULL, 0, NULL);
INSERT INTO public.slots VALUES (520, NULL, 0, NULL);
INSERT INTO public.slots VALUES (521, NULL, 0, NULL);
INSERT INTO public.slots VALUES (522, NULL, 0, NULL);
INSERT INTO public.slots VALUES (523, NULL, 0, NULL);
INSERT INTO public.slots VALUES (524, NULL, 0, NULL);
INSERT INTO public.slots VALUES (525, NULL, 0, NULL);
INSERT INTO public.slots VALUES (526, NULL, 0, NULL);
INSERT INTO public.slots VALUES (527, NULL, 0, NULL);
INSERT INTO public.slots VALUES (528, NULL, 0, NULL);
INSERT INTO public.slots VALUES (529, NULL, 0, NULL);
INSERT INTO public.slots VALUES (530, NULL, 0, NULL);
INSERT INTO public.slots VALUES (531, NULL, 0, NULL);
INSERT INTO public.slots VALUES (532, NULL, 0, NULL);
INSERT INTO public.slots VALUES (533, NULL, 0, NULL);
INSERT INTO public.slots VALUES (534, NULL, 0, NULL);
INSERT INTO public.slots VALUES (535, NULL, 0, NULL);
INSERT INTO public.slots VALUES (536, NULL, 0, NULL);
INSERT INTO public.slots VALUES (537, NULL, 0, NULL);
INSERT INTO public.slots VALUES (538, NULL, 0, NULL);
INSERT INTO public.slots VALUES (539, NULL, 0, NULL);
INSERT INTO public.slots VALUES (540, NULL, 0, NULL);
INSERT INTO public.slots VALUES (541, NULL, 0, NULL);
INSERT INTO public.slots VALUES (542, NULL, 0, NULL);
INSERT INTO public.slots VALUES (543, NULL, 0, NULL);
INSERT INTO public.slots VALUES (544, NULL, 0, NULL);
INSERT INTO public.slots VALUES (545, NULL, 0, NULL);
INSERT INTO public.slots VALUES (546, NULL, 0, NULL);
INSERT INTO public.slots VALUES (547, NULL, 0, NULL);
INSERT INTO public.slots VALUES (548, NULL, 0, NULL);
INSERT INTO public.slots VALUES (549, NULL, 0, NULL);
INSERT INTO public.slots VALUES (550, NULL, 0, NULL);
INSERT INTO public.slots VALUES (551, NULL, 0, NULL);
INSERT INTO public.slots VALUES (552, NULL, 0, NULL);
INSERT INTO public.slots VALUES (553, NULL, 0, NULL);
INSERT INTO public.slots VALUES (554, NULL, 0, NULL);
INSERT INTO public.slots VALUES (555, NULL, 0, NULL);
INSERT INTO public.slots VALUES (556, NULL, 0, NULL);
INSERT INTO public.slots VALUES (557, NULL, 0, NULL);
INSERT INTO public.slots VALUES (558, NULL, 0, NULL);
INSERT INTO public.slots VALUES (559, NULL, 0, NULL);
INSERT INTO public.slots VALUES (560, NULL, 0, NULL);
INSERT INTO public.slots VALUES (561, NULL, 0, NULL);
INSERT INTO public.slots VALUES (562, NULL, 0, NULL);
INSERT INTO public.slots VALUES (563, NULL, 0, NULL);
INSERT INTO public.slots VALUES (564, NULL, 0, NULL);
INSERT INTO public.slots VALUES (565, NULL, 0, NULL);
INSERT INTO public.slots VALUES (566, NULL, 0, NULL);
INSERT INTO public.slots VALUES (567, NULL, 0, NULL);
INSERT INTO public.slots VALUES (568, NULL, 0, NULL);
INSERT INTO public.slots VALUES (569, NULL, 0, NULL);
INSERT INTO public.slots VALUES (570, NULL, 0, NULL);
INSERT INTO public.slots VALUES (571, NULL, 0, NULL);
INSERT INTO public.slots VALUES (572, NULL, 0, NULL);
INSERT INTO public.slots VALUES (573, NULL, 0, NULL);
INSERT INTO public.slots VALUES (574, NULL, 0, NULL);
INSERT INTO public.slots VALUES (575, NULL, 0, NULL);
INSERT INTO public.slots VALUES (576, NULL, 0, NULL);
INSERT INTO public.slots VALUES (577, NULL, 0, NULL);
INSERT INTO public.slots VALUES (578, NULL, 0, NULL);
INSERT INTO public.slots VALUES (579, NULL, 0, NULL);
INSERT INTO public.slots VALUES (580, NULL, 0, NULL);
INSERT INTO public.slots VALUES (581, NULL, 0, NULL);
INSERT INTO public.slots VALUES (582, NULL, 0, NULL);
INSERT INTO public.slots VALUES (583, NULL, 0, NULL);
INSERT INTO public.slots VALUES (584, NULL, 0, NULL);
INSERT INTO public.slots VALUES (585, NULL, 0, NULL);
INSERT INTO public.slots VALUES (586, NULL, 0, NULL);
INSERT INTO public.slots VALUES (587, NULL, 0, NULL);
INSERT INTO public.slots VALUES (588, NULL, 0, NULL);
INSERT INTO public.slots VALUES (589, NULL, 0, NULL);
INSERT INTO public.slots VALUES (590, NULL, 0, NULL);
INSERT INTO public.slots VALUES (591, NULL, 0, NULL);
INSERT INTO public.slots VALUES (592, NULL, 0, NULL);
INSERT INTO public.slots VALUES (593, NULL, 0, NULL);
INSERT INTO public.slots VALUES (594, NULL, 0, NULL);
INSERT INTO public.slots VALUES (595, NULL, 0, NULL);
INSERT INTO public.slots VALUES (596, NULL, 0, NULL);
INSERT INTO public.slots VALUES (597, NULL, 0, NULL);
INSERT INTO public.slots VALUES (598, NULL, 0, NULL);
INSERT INTO public.slots VALUES (599, NULL, 0, NULL);
INSERT INTO public.slots VALUES (600, NULL, 0, NULL);
INSERT INTO public.slots VALUES (601, NULL, 0, NULL);
INSERT INTO public.slots VALUES (602, NULL, 0, NULL);
INSERT INTO public.slots VALUES (603, NULL, 0, NULL);
INSERT INTO public.slots VALUES (604, NULL, 0, NULL);
INSERT INTO public.slots VALUES (605, NULL, 0, NULL);
INSERT INTO public.slots VALUES (606, NULL, 0, NULL);
INSERT INTO public.slots VALUES (607, NULL, 0, NULL);
INSERT INTO public.slots VALUES (608, NULL, 0, NULL);
INSERT INTO public.slots VALUES (609, NULL, 0, NULL);
INSERT INTO public.slots VALUES (610, NULL, 0, NULL);
INSERT INTO public.slots VALUES (611, NULL, 0, NULL);
INSERT INTO public.slots VALUES (612, NULL, 0, NULL);
INSERT INTO public.slots VALUES (613, NULL, 0, NULL);
INSERT INTO public.slots VALUES (614, NULL, 0, NULL);
INSERT INTO public.slots VALUES (615, NULL, 0, NULL);
INSERT INTO public.slots VALUES (616, NULL, 0, NULL);
INSERT INTO public.slots VALUES (617, NULL, 0, NULL);
INSERT INTO public.slots VALUES (618, NULL, 0, NULL);
INSERT INTO public.slots VALUES (619, NULL, 0, NULL);
INSERT INTO public.slots VALUES (620, NULL, 0, NULL);
INSERT INTO public.slots VALUES (621, NULL, 0, NULL);
INSERT INTO public.slots VALUES (622, NULL, 0, NULL);
INSERT INTO public.slots VALUES (623, NULL, 0, NULL);
INSERT INTO public.slots VALUES (624, NULL, 0, NULL);
INSERT INTO public.slots VALUES (625, NULL, 0, NULL);
INSERT INTO public.slots VALUES (626, NULL, 0, NULL);
INSERT INTO public.slots VALUES (627, NULL, 0, NULL);
INSERT INTO public.slots VALUES (628, NULL, 0, NULL);
INSERT INTO public.slots VALUES (629, NULL, 0, NULL);
INSERT INTO public.slots VALUES (630, NULL, 0, NULL);
INSERT INTO public.slots VALUES (631, NULL, 0, NULL);
INSERT INTO public.slots VALUES (632, NULL, 0, NULL);
INSERT INTO public.slots VALUES (633, NULL, 0, NULL);
INSERT INTO public.slots VALUES (634, NULL, 0, NULL);
INSERT INTO public.slots VALUES (635, NULL, 0, NULL);
INSERT INTO public.slots VALUES (636, NULL, 0, NULL);
INSERT INTO public.slots VALUES (637, NULL, 0, NULL);
INSERT INTO public.slots VALUES (638, NULL, 0, NULL);
INSERT INTO public.slots VALUES (639, NULL, 0, NULL);
INSERT INTO public.slots VALUES (640, NULL, 0, NULL);
INSERT INTO public.slots VALUES (641, NULL, 0, NULL);
INSERT INTO public.slots VALUES (642, NULL, 0, NULL);
INSERT INTO public.slots VALUES (643, NULL, 0, NULL);
INSERT INTO public.slots VALUES (644, NULL, 0, NULL);
INSERT INTO public.slots VALUES (645, NULL, 0, NULL);
INSERT INTO public.slots VALUES (646, NULL, 0, NULL);
INSERT INTO public.slots VALUES (647, NULL, 0, NULL);
INSERT INTO public.slots VALUES (648, NULL, 0, NULL);
INSERT INTO public.slots VALUES (649, NULL, 0, NULL);
INSERT INTO public.slots VALUES (650, NULL, 0, NULL);
INSERT INTO public.slots VALUES (651, NULL, 0, NULL);
INSERT INTO public.slots VALUES (652, NULL, 0, NULL);
INSERT INTO public.slots VALUES (653, NULL, 0, NULL);
INSERT INTO public.slots VALUES (654, NULL, 0, NULL);
INSERT INTO public.slots VALUES (655, NULL, 0, NULL);
INSERT INTO public.slots VALUES (656, NULL, 0, NULL);
INSERT INTO public.slots VALUES (657, NULL, 0, NULL);
INSERT INTO public.slots VALUES (658, NULL, 0, NULL);
INSERT INTO public.slots VALUES (659, NULL, 0, NULL);
INSERT INTO public.slots VALUES (660, NULL, 0, NULL);
INSERT INTO public.slots VALUES (661, NULL, 0, NULL);
INSERT INTO public.slots VALUES (662, NULL, 0, NULL);
INSERT INTO public.slots VALUES (663, NULL, 0, NULL);
INSERT INTO public.slots VALUES (664, NULL, 0, NULL);
INSERT INTO public.slots VALUES (665, NULL, 0, NULL);
INSERT INTO public.slots VALUES (666, NULL, 0, NULL);
INSERT INTO public.slots VALUES (667, NULL, 0, NULL);
INSERT INTO public.slots VALUES (668, NULL, 0, NULL);
INSERT INTO public.slots VALUES (669, NULL, 0, NULL);
INSERT INTO public.slots VALUES (670, NULL, 0, NULL);
INSERT INTO public.slots VALUES (671, NULL, 0, NULL);
INSERT INTO public.slots VALUES (672, NULL, 0, NULL);
INSERT INTO public.slots VALUES (673, NULL, 0, NULL);
INSERT INTO public.slots VALUES (674, NULL, 0, NULL);
INSERT INTO public.slots VALUES (675, NULL, 0, NULL);
INSERT INTO public.slots VALUES (676, NULL, 0, NULL);
INSERT INTO public.slots VALUES (677, NULL, 0, NULL);
INSERT INTO public.slots VALUES (678, NULL, 0, NULL);
INSERT INTO public.slots VALUES (679, NULL, 0, NULL);
INSERT INTO public.slots VALUES (680, NULL, 0, NULL);
INSERT INTO public.slots VALUES (681, NULL, 0, NULL);
INSERT INTO public.slots VALUES (682, NULL, 0, NULL);
INSERT INTO public.slots VALUES (683, NULL, 0, NULL);
INSERT INTO public.slots VALUES (684, NULL, 0, NULL);
INSERT INTO public.slots VALUES (685, NULL, 0, NULL);
INSERT INTO public.slots VALUES (686, NULL, 0, NULL);
INSERT INTO public.slots VALUES (687, NULL, 0, NULL);
INSERT INTO public.slots VALUES (688, NULL, 0, NULL);
INSERT INTO public.slots VALUES (689, NULL, 0, NULL);
INSERT INTO public.slots VALUES (690, NULL, 0, NULL);
INSERT INTO public.slots VALUES (691, NULL, 0, NULL);
INSERT INTO public.slots VALUES (692, NULL, 0, NULL);
INSERT INTO public.slots VALUES (693, NULL, 0, NULL);
INSERT INTO public.slots VALUES (694, NULL, 0, NULL);
INSERT INTO public.slots VALUES (695, NULL, 0, NULL);
INSERT INTO public.slots VALUES (696, NULL, 0, NULL);
INSERT INTO public.slots VALUES (697, NULL, 0, NULL);
INSERT INTO public.slots VALUES (698, NULL, 0, NULL);
INSERT INTO public.slots VALUES (699, NULL, 0, NULL);
INSERT INTO public.slots VALUES (700, NULL, 0, NULL);
INSERT INTO public.slots VALUES (701, NULL, 0, NULL);
INSERT INTO public.slots VALUES (702, NULL, 0, NULL);
INSERT INTO public.slots VALUES (703, NULL, 0, NULL);
INSERT INTO public.slots VALUES (704, NULL, 0, NULL);
INSERT INTO public.slots VALUES (705, NULL, 0, NULL);
INSERT INTO public.slots VALUES (706, NULL, 0, NULL);
INSERT INTO public.slots VALUES (707, NULL, 0, NULL);
INSERT INTO public.slots VALUES (708, NULL, 0, NULL);
INSERT INTO public.slots VALUES (709, NULL, 0, NULL);
INSERT INTO public.slots VALUES (710, NULL, 0, NULL);
INSERT INTO public.slots VALUES (711, NULL, 0, NULL);
INSERT INTO public.slots VALUES (712, NULL, 0, NULL);
INSERT INTO public.slots VALUES (713, NULL, 0, NULL);
INSERT INTO public.slots VALUES (714, NULL, 0, NULL);
INSERT INTO public.slots VALUES (715, NULL, 0, NULL);
INSERT INTO public.slots VALUES (716, NULL, 0, NULL);
INSERT INTO public.slots VALUES (717, NULL, 0, NULL);
INSERT INTO public.slots VALUES (718, NULL, 0, NULL);
INSERT INTO public.slots VALUES (719, NULL, 0, NULL);
INSERT INTO public.slots VALUES (720, NULL, 0, NULL);
INSERT INTO public.slots VALUES (721, NULL, 0, NULL);
INSERT INTO public.slots VALUES (722, NULL, 0, NULL);
INSERT INTO public.slots VALUES (723, NULL, 0, NULL);
INSERT INTO public.slots VALUES (724, NULL, 0, NULL);
INSERT INTO public.slots VALUES (725, NULL, 0, NULL);
INSERT INTO public.slots VALUES (726, NULL, 0, NULL);
INSERT INTO public.slots VALUES (727, NULL, 0, NULL);
INSERT INTO public.slots VALUES (728, NULL, 0, NULL);
INSERT INTO public.slots VALUES (729, NULL, 0, NULL);
INSERT INTO public.slots VALUES (730, NULL, 0, NULL);
INSERT INTO public.slots VALUES (731, NULL, 0, NULL);
INSERT INTO public.slots VALUES (732, NULL, 0, NULL);
INSERT INTO public.slots VALUES (733, NULL, 0, NULL);
INSERT INTO public.slots VALUES (734, NULL, 0, NULL);
INSERT INTO public.slots VALUES (735, NULL, 0, NULL);
INSERT INTO public.slots VALUES (736, NULL, 0, NULL);
INSERT INTO public.slots VALUES (737, NULL, 0, NULL);
INSERT INTO public.slots VALUES (738, NULL, 0, NULL);
INSERT INTO public.slots VALUES (739, NULL, 0, NULL);
INSERT INTO public.slots VALUES (740, NULL, 0, NULL);
INSERT INTO public.slots VALUES (741, NULL, 0, NULL);
INSERT INTO public.slots VALUES (742, NULL, 0, NULL);
INSERT INTO public.slots VALUES (743, NULL, 0, NULL);
INSERT INTO public.slots VALUES (744, NULL, 0, NULL);
INSERT INTO public.slots VALUES (745, NULL, 0, NULL);
INSERT INTO public.slots VALUES (746, NULL, 0, NULL);
INSERT INTO public.slots VALUES (747, NULL, 0, NULL);
INSERT INTO public.slots VALUES (748, NULL, 0, NULL);
INSERT INTO public.slots VALUES (749, NULL, 0, NULL);
INSERT INTO public.slots VALUES (750, NULL, 0, NULL);
INSERT INTO public.slots VALUES (751, NULL, 0, NULL);
INSERT INTO public.slots VALUES (752, NULL, 0, NULL);
INSERT INTO public.slots VALUES (753, NULL, 0, NULL);
INSERT INTO public.slots VALUES (754, NULL, 0, NULL);
INSERT INTO public.slots VALUES (755, NULL, 0, NULL);
INSERT INTO public.slots VALUES (756, NULL, 0, NULL);
INSERT INTO public.slots VALUES (757, NULL, 0, NULL);
INSERT INTO public.slots VALUES (758, NULL, 0, NULL);
INSERT INTO public.slots VALUES (759, NULL, 0, NULL);
INSERT INTO public.slots VALUES (760, NULL, 0, NULL);
INSERT INTO public.slots VALUES (761, NULL, 0, NULL);
INSERT INTO public.slots VALUES (762, NULL, 0, NULL);
INSERT INTO public.slots VALUES (763, NULL, 0, NULL);
INSERT INTO public.slots VALUES (764, NULL, 0, NULL);
INSERT INTO public.slots VALUES (765, NULL, 0, NULL);
INSERT INTO public.slots VALUES (766, NULL, 0, NULL);
INSERT INTO public.slots VALUES (767, NULL, 0, NULL);
INSERT INTO public.slots VALUES (768, NULL, 0, NULL);
INSERT INTO public.slots VALUES (769, NULL, 0, NULL);
INSERT INTO public.slots VALUES (770, NULL, 0, NULL);
INSERT INTO public.slots VALUES (771, NULL, 0, NULL);
INSERT INTO public.slots VALUES (772, NULL, 0, NULL);
INSERT INTO public.slots VALUES (773, NULL, 0, NULL);
INSERT INTO public.slots VALUES (774, NULL, 0, NULL);
INSERT INTO public.slots VALUES (775, NULL, 0, NULL);
INSERT INTO public.slots VALUES (776, NULL, 0, NULL);
INSERT INTO public.slots VALUES (777, NULL, 0, NULL);
INSERT INTO public.slots VALUES (778, NULL, 0, NULL);
INSERT INTO public.slots VALUES (779, NULL, 0, NULL);
INSERT INTO public.slots VALUES (780, NULL, 0, NULL);
INSERT INTO public.slots VALUES (781, NULL, 0, NULL);
INSERT INTO public.slots VALUES (782, NULL, 0, NULL);
INSERT INTO public.slots VALUES (783, NULL, 0, NULL);
INSERT INTO public.slots VALUES (784, NULL, 0, NULL);
INSERT INTO public.slots VALUES (785, NULL, 0, NULL);
INSERT INTO public.slots VALUES (786, NULL, 0, NULL);
INSERT INTO public.slots VALUES (787, NULL, 0, NULL);
INSERT INTO public.slots VALUES (788, NULL, 0, NULL);
INSERT INTO public.slots VALUES (789, NULL, 0, NULL);
INSERT INTO public.slots VALUES (790, NULL, 0, NULL);
INSERT INTO public.slots VALUES (791, NULL, 0, NULL);
INSERT INTO public.slots VALUES (792, NULL, 0, NULL);
INSERT INTO public.slots VALUES (793, NULL, 0, NULL);
INSERT INTO public.slots VALUES (794, NULL, 0, NULL);
INSERT INTO public.slots VALUES (795, NULL, 0, NULL);
INSERT INTO public.slots VALUES (796, NULL, 0, NULL);
INSERT INTO public.slots VALUES (797, NULL, 0, NULL);
INSERT INTO public.slots VALUES (798, NULL, 0, NULL);
INSERT INTO public.slots VALUES (799, NULL, 0, NULL);
INSERT INTO public.slots VALUES (800, NULL, 0, NULL);
INSERT INTO public.slots VALUES (801, NULL, 0, NULL);
INSERT INTO public.slots VALUES (802, NULL, 0, NULL);
INSERT INTO public.slots VALUES (803, NULL, 0, NULL);
INSERT INTO public.slots VALUES (804, NULL, 0, NULL);
INSERT INTO public.slots VALUES (805, NULL, 0, NULL);
INSERT INTO public.slots VALUES (806, NULL, 0, NULL);
INSERT INTO public.slots VALUES (807, NULL, 0, NULL);
INSERT INTO public.slots VALUES (808, NULL, 0, NULL);
INSERT INTO public.slots VALUES (809, NULL, 0, NULL);
INSERT INTO public.slots VALUES (810, NULL, 0, NULL);
INSERT INTO public.slots VALUES (811, NULL, 0, NULL);
INSERT INTO public.slots VALUES (812, NULL, 0, NULL);
INSERT INTO public.slots VALUES (813, NULL, 0, NULL);
INSERT INTO public.slots VALUES (814, NULL, 0, NULL);
INSERT INTO public.slots VALUES (815, NULL, 0, NULL);
INSERT INTO public.slots VALUES (816, NULL, 0, NULL);
INSERT INTO public.slots VALUES (817, NULL, 0, NULL);
INSERT INTO public.slots VALUES (818, NULL, 0, NULL);
INSERT INTO public.slots VALUES (819, NULL, 0, NULL);
INSERT INTO public.slots VALUES (820, NULL, 0, NULL);
INSERT INTO public.slots VALUES (821, NULL, 0, NULL);
INSERT INTO public.slots VALUES (822, NULL, 0, NULL);
INSERT INTO public.slots VALUES (823, NULL, 0, NULL);
INSERT INTO public.slots VALUES (824, NULL, 0, NULL);
INSERT INTO public.slots VALUES (825, NULL, 0, NULL);
INSERT INTO public.slots VALUES (826, NULL, 0, NULL);
INSERT INTO public.slots VALUES (827, NULL, 0, NULL);
INSERT INTO public.slots VALUES (828, NULL, 0, NULL);
INSERT INTO public.slots VALUES (829, NULL, 0, NULL);
INSERT INTO public.slots VALUES (830, NULL, 0, NULL);
INSERT INTO public.slots VALUES (831, NULL, 0, NULL);
INSERT INTO public.slots VALUES (832, NULL, 0, NULL);
INSERT INTO public.slots VALUES (833, NULL, 0, NULL);
INSERT INTO public.slots VALUES (834, NULL, 0, NULL);
INSERT INTO public.slots VALUES (835, NULL, 0, NULL);
INSERT INTO public.slots VALUES (836, NULL, 0, NULL);
INSERT INTO public.slots VALUES (837, NULL, 0, NULL);
INSERT INTO public.slots VALUES (838, NULL, 0, NULL);
INSERT INTO public.slots VALUES (839, NULL, 0, NULL);
INSERT INTO public.slots VALUES (840, NULL, 0, NULL);
INSERT INTO public.slots VALUES (841, NULL, 0, NULL);
INSERT INTO public.slots VALUES (842, NULL, 0, NULL);
INSERT INTO public.slots VALUES (843, NULL, 0, NULL);
INSERT INTO public.slots VALUES (844, NULL, 0, NULL);
INSERT INTO public.slots VALUES (845, NULL, 0, NULL);
INSERT INTO public.slots VALUES (846, NULL, 0, NULL);
INSERT INTO public.slots VALUES (847, NULL, 0, NULL);
INSERT INTO public.slots VALUES (848, NULL, 0, NULL);
INSERT INTO public.slots VALUES (849, NULL, 0, NULL);
INSERT INTO public.slots VALUES (850, NULL, 0, NULL);
INSERT INTO public.slots VALUES (851, NULL, 0, NULL);
INSERT INTO public.slots VALUES (852, NULL, 0, NULL);
INSERT INTO public.slots VALUES (853, NULL, 0, NULL);
INSERT INTO public.slots VALUES (854, NULL, 0, NULL);
INSERT INTO public.slots VALUES (855, NULL, 0, NULL);
INSERT INTO public.slots VALUES (856, NULL, 0, NULL);
INSERT INTO public.slots VALUES (857, NULL, 0, NULL);
INSERT INTO public.slots VALUES (858, NULL, 0, NULL);
INSERT INTO public.slots VALUES (859, NULL, 0, NULL);
INSERT INTO public.slots VALUES (860, NULL, 0, NULL);
INSERT INTO public.slots VALUES (861, NULL, 0, NULL);
INSERT INTO public.slots VALUES (862, NULL, 0, NULL);
INSERT INTO public.slots VALUES (863, NULL, 0, NULL);
INSERT INTO public.slots VALUES (864, NULL, 0, NULL);
INSERT INTO public.slots VALUES (865, NULL, 0, NULL);
INSERT INTO public.slots VALUES (866, NULL, 0, NULL);
INSERT INTO public.slots VALUES (867, NULL, 0, NULL);
INSERT INTO public.slots VALUES (868, NULL, 0, NULL);
INSERT INTO public.slots VALUES (869, NULL, 0, NULL);
INSERT INTO public.slots VALUES (870, NULL, 0, NULL);
INSERT INTO public.slots VALUES (871, NULL, 0, NULL);
INSERT INTO public.slots VALUES (872, NULL, 0, NULL);
INSERT INTO public.slots VALUES (873, NULL, 0, NULL);
INSERT INTO public.slots VALUES (874, NULL, 0, NULL);
INSERT INTO public.slots VALUES (875, NULL, 0, NULL);
INSERT INTO public.slots VALUES (876, NULL, 0, NULL);
INSERT INTO public.slots VALUES (877, NULL, 0, NULL);
INSERT INTO public.slots VALUES (878, NULL, 0, NULL);
INSERT INTO public.slots VALUES (879, NULL, 0, NULL);
INSERT INTO public.slots VALUES (880, NULL, 0, NULL);
INSERT INTO public.slots VALUES (881, NULL, 0, NULL);
INSERT INTO public.slots VALUES (882, NULL, 0, NULL);
INSERT INTO public.slots VALUES (883, NULL, 0, NULL);
INSERT INTO public.slots VALUES (884, NULL, 0, NULL);
INSERT INTO public.slots VALUES (885, NULL, 0, NULL);
INSERT INTO public.slots VALUES (886, NULL, 0, NULL);
INSERT INTO public.slots VALUES (887, NULL, 0, NULL);
INSERT INTO public.slots VALUES (888, NULL, 0, NULL);
INSERT INTO public.slots VALUES (889, NULL, 0, NULL);
INSERT INTO public.slots VALUES (890, NULL, 0, NULL);
INSERT INTO public.slots VALUES (891, NULL, 0, NULL);
INSERT INTO public.slots VALUES (892, NULL, 0, NULL);
INSERT INTO public.slots VALUES (893, NULL, 0, NULL);
INSERT INTO public.slots VALUES (894, NULL, 0, NULL);
INSERT INTO public.slots VALUES (895, NULL, 0, NULL);
INSERT INTO public.slots VALUES (896, NULL, 0, NULL);
INSERT INTO public.slots VALUES (897, NULL, 0, NULL);
INSERT INTO public.slots VALUES (898, NULL, 0, NULL);
INSERT INTO public.slots VALUES (899, NULL, 0, NULL);
INSERT INTO public.slots VALUES (900, NULL, 0, NULL);
INSERT INTO public.slots VALUES (901, NULL, 0, NULL);
INSERT INTO public.slots VALUES (902, NULL, 0, NULL);
INSERT INTO public.slots VALUES (903, NULL, 0, NULL);
INSERT INTO public.slots VALUES (904, NULL, 0, NULL);
INSERT INTO public.slots VALUES (905, NULL, 0, NULL);
INSERT INTO public.slots VALUES (906, NULL, 0, NULL);
INSERT INTO public.slots VALUES (907, NULL, 0, NULL);
INSERT INTO public.slots VALUES (908, NULL, 0, NULL);
INSERT INTO public.slots VALUES (909, NULL, 0, NULL);
INSERT INTO public.slots VALUES (910, NULL, 0, NULL);
INSERT INTO public.slots VALUES (911, NULL, 0, NULL);
INSERT INTO public.slots VALUES (912, NULL, 0, NULL);
INSERT INTO public.slots VALUES (913, NULL, 0, NULL);
INSERT INTO public.slots VALUES (914, NULL, 0, NULL);
INSERT INTO public.slots VALUES (915, NULL, 0, NULL);
INSERT INTO public.slots VALUES (916, NULL, 0, NULL);
INSERT INTO public.slots VALUES (917, NULL, 0, NULL);
INSERT INTO public.slots VALUES (918, NULL, 0, NULL);
INSERT INTO public.slots VALUES (919, NULL, 0, NULL);
INSERT INTO public.slots VALUES (920, NULL, 0, NULL);
INSERT INTO public.slots VALUES (921, NULL, 0, NULL);
INSERT INTO public.slots VALUES (922, NULL, 0, NULL);
INSERT INTO public.slots VALUES (923, NULL, 0, NULL);
INSERT INTO public.slots VALUES (924, NULL, 0, NULL);
INSERT INTO public.slots VALUES (925, NULL, 0, NULL);
INSERT INTO public.slots VALUES (926, NULL, 0, NULL);
INSERT INTO public.slots VALUES (927, NULL, 0, NULL);
INSERT INTO public.slots VALUES (928, NULL, 0, NULL);
INSERT INTO public.slots VALUES (929, NULL, 0, NULL);
INSERT INTO public.slots VALUES (930, NULL, 0, NULL);
INSERT INTO public.slots VALUES (931, NULL, 0, NULL);
INSERT INTO public.slots VALUES (932, NULL, 0, NULL);
INSERT INTO public.slots VALUES (933, NULL, 0, NULL);
INSERT INTO public.slots VALUES (934, NULL, 0, NULL);
INSERT INTO public.slots VALUES (935, NULL, 0, NULL);
INSERT INTO public.slots VALUES (936, NULL, 0, NULL);
INSERT INTO public.slots VALUES (937, NULL, 0, NULL);
INSERT INTO public.slots VALUES (938, NULL, 0, NULL);
INSERT INTO public.slots VALUES (939, NULL, 0, NULL);
INSERT INTO public.slots VALUES (940, NULL, 0, NULL);
INSERT INTO public.slots VALUES (941, NULL, 0, NULL);
INSERT INTO public.slots VALUES (942, NULL, 0, NULL);
INSERT INTO public.slots VALUES (943, NULL, 0, NULL);
INSERT INTO public.slots VALUES (944, NULL, 0, NULL);
INSERT INTO public.slots VALUES (945, NULL, 0, NULL);
INSERT INTO public.slots VALUES (946, NULL, 0, NULL);
INSERT INTO public.slots VALUES (947, NULL, 0, NULL);
INSERT INTO public.slots VALUES (948, NULL, 0, NULL);
INSERT INTO public.slots VALUES (949, NULL, 0, NULL);
INSERT INTO public.slots VALUES (950, NULL, 0, NULL);
INSERT INTO public.slots VALUES (951, NULL, 0, NULL);
INSERT INTO public.slots VALUES (952, NULL, 0, NULL);
INSERT INTO public.slots VALUES (953, NULL, 0, NULL);
INSERT INTO public.slots VALUES (954, NULL, 0, NULL);
INSERT INTO public.slots VALUES (955, NULL, 0, NULL);
INSERT INTO public.slots VALUES (956, NULL, 0, NULL);
INSERT INTO public.slots VALUES (957, NULL, 0, NULL);
INSERT INTO public.slots VALUES (958, NULL, 0, NULL);
INSERT INTO public.slots VALUES (959, NULL, 0, NULL);
INSERT INTO public.slots VALUES (960, NULL, 0, NULL);
INSERT INTO public.slots VALUES (961, NULL, 0, NULL);
INSERT INTO public.slots VALUES (962, NULL, 0, NULL);
INSERT INTO public.slots VALUES (963, NULL, 0, NULL);
INSERT INTO public.slots VALUES (964, NULL, 0, NULL);
INSERT INTO public.slots VALUES (965, NULL, 0, NULL);
INSERT INTO public.slots VALUES (966, NULL, 0, NULL);
INSERT INTO public.slots VALUES (967, NULL, 0, NULL);
INSERT INTO public.slots VALUES (968, NULL, 0, NULL);
INSERT INTO public.slots VALUES (969, NULL, 0, NULL);
INSERT INTO public.slots VALUES (970, NULL, 0, NULL);
INSERT INTO public.slots VALUES (971, NULL, 0, NULL);
INSERT INTO public.slots VALUES (972, NULL, 0, NULL);
INSERT INTO public.slots VALUES (973, NULL, 0, NULL);
INSERT INTO public.slots VALUES (974, NULL, 0, NULL);
INSERT INTO public.slots VALUES (975, NULL, 0, NULL);
INSERT INTO public.slots VALUES (976, NULL, 0, NULL);
INSERT INTO public.slots VALUES (977, NULL, 0, NULL);
INSERT INTO public.slots VALUES (978, NULL, 0, NULL);
INSERT INTO public.slots VALUES (979, NULL, 0, NULL);
INSERT INTO public.slots VALUES (980, NULL, 0, NULL);
INSERT INTO public.slots VALUES (981, NULL, 0, NULL);
INSERT INTO public.slots VALUES (982, NULL, 0, NULL);
INSERT INTO public.slots VALUES (983, NULL, 0, NULL);
INSERT INTO public.slots VALUES (984, NULL, 0, NULL);
INSERT INTO public.slots VALUES (985, NULL, 0, NULL);
INSERT INTO public.slots VALUES (986, NULL, 0, NULL);
INSERT INTO public.slots VALUES (987, NULL, 0, NULL);
INSERT INTO public.slots VALUES (988, NULL, 0, NULL);
INSERT INTO public.slots VALUES (989, NULL, 0, NULL);
INSERT INTO public.slots VALUES (990, NULL, 0, NULL);
INSERT INTO public.slots VALUES (991, NULL, 0, NULL);
INSERT INTO public.slots VALUES (992, NULL, 0, NULL);
INSERT INTO public.slots VALUES (993, NULL, 0, NULL);
INSERT INTO public.slots VALUES (994, NULL, 0, NULL);
INSERT INTO public.slots VALUES (995, NULL, 0, NULL);
INSERT INTO public.slots VALUES (996, NULL, 0, NULL);
INSERT INTO public.slots VALUES (997, NULL, 0, NULL);
INSERT INTO public.slots VALUES (998, NULL, 0, NULL);
INSERT INTO public.slots VALUES (999, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1000, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1001, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1002, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1003, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1004, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1005, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1006, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1007, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1008, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1009, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1010, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1011, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1012, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1013, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1014, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1015, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1016, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1017, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1018, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1019, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1020, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1021, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1022, NULL, 0, NULL);
INSERT INTO public.slots VALUES (1023, NULL, 0, NULL);
INSERT INTO public.statuspage_deliveries VALUES ('01a1f06a-ea77-7c29-bc83-6eee1429e1f9', '01a1f06a-ea62-7203-9778-2f1ec49ff7da', '01a1f06a-ea77-77c1-9955-f938b4935747', 1, '01a1f06a-ea4b-70a8-8fa5-de5569908054', 'mail', 'delivered', '01a1f06a-ea77-7c29-bc83-6eee1429e1f9', 1, NULL, 0, 0, '01a1f06a-e1c3-7072-a3f0-1dcc52dcb835', 'written to a file', 1795034901123, 1795034901140);
INSERT INTO public.statuspage_events VALUES ('01a1f06a-ea77-7c29-bc83-6eee1429e1f9', '01a1f06a-ea4b-70a8-8fa5-de5569908054', '01a1f06a-ea77-77c1-9955-f938b4935747', '01a1f06a-ea77-7bae-a6e2-1385872092f3', 'incident.created', 1, 1795034901111, 1795035021118, NULL, 1795034901123);
INSERT INTO public.statuspage_events VALUES ('01a1f06a-ea88-77e0-b39f-9a72dacb70c6', '01a1f06a-ea4b-70a8-8fa5-de5569908054', '01a1f06a-ea77-77c1-9955-f938b4935747', '01a1f06a-ea88-7c01-95e5-fe1f2c1e1936', 'incident.updated', 2, 1795034901128, 1795035021131, NULL, NULL);
INSERT INTO public.statuspage_rules VALUES ('01a1f06a-ea4b-75f5-8048-1e4bb6028921', '01a1f06a-ea4b-70a8-8fa5-de5569908054', 0, true, 'outages', '{"components":[],"after":60,"mode":"draft","template":null,"impact":null,"group":600,"on_recovery":"monitor","resolve_after":300,"notify":true,"show_cause":false}', '{}');
INSERT INTO public.statuspage_slugs VALUES ('acme', '01a1f06a-ea4b-70a8-8fa5-de5569908054', true);
INSERT INTO public.statuspages VALUES ('01a1f06a-ea4b-70a8-8fa5-de5569908054', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'Acme', 'acme', true, 'public', '', 0, NULL, '{"description":"","footer":"","language":"en","languages":[],"texts":{},"timezone":"UTC","indexed":false,"allowed_networks":[],"appearance":{"scheme":"auto","accent":null,"layout":"list","links":[],"custom_css":"","powered_by":true},"display":{"history_days":90,"bars":true,"uptime":true,"decimals":3,"response_times":false,"certificates":false,"outages":false,"incident_days":7,"collapsed":"never"},"shown_after":0,"subscribe":{"email":true,"webhook":false,"chat":false,"feeds":true,"choose":true,"sender":null,"reply_to":""},"embed_origins":["*"]}', 1, 3, 1795034901067, 1795034901067);
INSERT INTO public.subscribers VALUES ('01a1f06a-ea62-7203-9778-2f1ec49ff7da', '01a1f06a-ea4b-70a8-8fa5-de5569908054', 'email', '\x5e918a0ecfde6e2946a2db4e7e21caf0549603255deea182b6be4f0a76cf3904', '\x0193f6b186e0ff2694dcb9f1541024ca9fd5801f1a26a1f60117095f22b6c1bef39822a18199c4f334875e6abe93aa7266ccae0d5828d05731c2726a80076321937d90c3fc32064dcf809b35337e82ca2bf9cdf1aca964', NULL, 'active', 'team', '{"format":"standard","scope":{"sections":[],"components":[]},"kinds":["incidents","maintenance"],"language":"en"}', NULL, NULL, 0, 1795034901090, 1795034901090, 1795034901090, NULL, 1795034901140, 0);
INSERT INTO public.teams VALUES ('01a1f06a-e223-7646-b224-78f8ab72a0b5', 1795034899112, 1795034901111, NULL, NULL, NULL, NULL, 'owner', 'ann', 'optional', 0, true, NULL, NULL, NULL, NULL, NULL);
INSERT INTO public.users VALUES ('01a1f06a-e2a8-747d-8b87-2c50cfc83897', '01a1f06a-e223-7646-b224-78f8ab72a0b5', 'ann@example.com', 'ann@example.com', '', '$argon2id$v=19$m=19456,t=2,p=1$KVYn5kJybAPRlhTSVg2IxA$TLmPezGcPNBxK28eIT2rKQw9Y66L8icsvyE3uZ2Mi4g', NULL, false, 0, 0, 0, 1795034899112, 1795034899112, NULL, 'person', '01a1f06a-e223-7646-b224-78f8ab72a0b5', true, NULL, 1795034899112);
INSERT INTO public.verifications VALUES ('\x2da5793cbb756f9a590a80cc7d48955a3670e7b9fbfba6f2556908600b165e1a', '01a1f06a-e2a8-747d-8b87-2c50cfc83897', 'ann@example.com', 1795639699112);
ALTER TABLE ONLY public.alert_events
    ADD CONSTRAINT alert_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.asks
    ADD CONSTRAINT asks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_erasures
    ADD CONSTRAINT audit_erasures_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_graves
    ADD CONSTRAINT audit_graves_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit_heads
    ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (chain, seq);
ALTER TABLE ONLY public.audit_streams
    ADD CONSTRAINT audit_streams_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.certificates
    ADD CONSTRAINT certificates_pkey PRIMARY KEY (monitor_id);
ALTER TABLE ONLY public.component_monitors
    ADD CONSTRAINT component_monitors_pkey PRIMARY KEY (component_id, monitor_id);
ALTER TABLE ONLY public.components
    ADD CONSTRAINT components_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.contact_rules
    ADD CONSTRAINT contact_rules_pkey PRIMARY KEY (user_id, team_id);
ALTER TABLE ONLY public.contacts
    ADD CONSTRAINT contacts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.dependencies
    ADD CONSTRAINT dependencies_pkey PRIMARY KEY (child_id, parent_id);
ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.exclusions
    ADD CONSTRAINT exclusions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.folds
    ADD CONSTRAINT folds_pkey PRIMARY KEY (monitor_id);
ALTER TABLE ONLY public.graves
    ADD CONSTRAINT graves_pkey PRIMARY KEY (monitor_id);
ALTER TABLE ONLY public.heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (monitor_id, at, seq);
ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_pkey PRIMARY KEY (monitor_id, key);
ALTER TABLE ONLY public.incident_components
    ADD CONSTRAINT incident_components_pkey PRIMARY KEY (incident_id, component_id);
ALTER TABLE ONLY public.incident_pages
    ADD CONSTRAINT incident_pages_pkey PRIMARY KEY (incident_id, page_id);
ALTER TABLE ONLY public.incident_templates
    ADD CONSTRAINT incident_templates_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.incident_updates
    ADD CONSTRAINT incident_updates_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.invoices
    ADD CONSTRAINT invoices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.limits
    ADD CONSTRAINT limits_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.maintenances
    ADD CONSTRAINT maintenances_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (team_id, user_id);
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (team_id);
ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.monitor_filter_monitors
    ADD CONSTRAINT monitor_filter_monitors_pkey PRIMARY KEY (filter_id, monitor_id);
ALTER TABLE ONLY public.monitor_filter_tags
    ADD CONSTRAINT monitor_filter_tags_pkey PRIMARY KEY (filter_id, tag);
ALTER TABLE ONLY public.monitor_filters
    ADD CONSTRAINT monitor_filters_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.monitor_notifiers
    ADD CONSTRAINT monitor_notifiers_pkey PRIMARY KEY (monitor_id, notifier_id);
ALTER TABLE ONLY public.monitor_states
    ADD CONSTRAINT monitor_states_pkey PRIMARY KEY (monitor_id);
ALTER TABLE ONLY public.monitor_tags
    ADD CONSTRAINT monitor_tags_pkey PRIMARY KEY (monitor_id, tag);
ALTER TABLE ONLY public.monitors
    ADD CONSTRAINT monitors_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.notifiers
    ADD CONSTRAINT notifiers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.overrides
    ADD CONSTRAINT overrides_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payment_attempts
    ADD CONSTRAINT payment_attempts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payment_customers
    ADD CONSTRAINT payment_customers_pkey PRIMARY KEY (team_id);
ALTER TABLE ONLY public.payment_methods
    ADD CONSTRAINT payment_methods_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payment_removals
    ADD CONSTRAINT payment_removals_pkey PRIMARY KEY (reference);
ALTER TABLE ONLY public.pending_signups
    ADD CONSTRAINT pending_signups_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.pings
    ADD CONSTRAINT pings_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.push_subscriptions
    ADD CONSTRAINT push_subscriptions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, digest);
ALTER TABLE ONLY public.resets
    ADD CONSTRAINT resets_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.revoked_probes
    ADD CONSTRAINT revoked_probes_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.routing
    ADD CONSTRAINT routing_pkey PRIMARY KEY (team_id);
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.sections
    ADD CONSTRAINT sections_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (slot);
ALTER TABLE ONLY public.statuspage_deliveries
    ADD CONSTRAINT statuspage_deliveries_pkey PRIMARY KEY (subscriber_id, event_id);
ALTER TABLE ONLY public.statuspage_domains
    ADD CONSTRAINT statuspage_domains_pkey PRIMARY KEY (domain);
ALTER TABLE ONLY public.statuspage_events
    ADD CONSTRAINT statuspage_events_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.statuspage_images
    ADD CONSTRAINT statuspage_images_pkey PRIMARY KEY (page_id, kind);
ALTER TABLE ONLY public.statuspage_rules
    ADD CONSTRAINT statuspage_rules_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.statuspage_slugs
    ADD CONSTRAINT statuspage_slugs_pkey PRIMARY KEY (slug);
ALTER TABLE ONLY public.statuspages
    ADD CONSTRAINT statuspages_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.subscribers
    ADD CONSTRAINT subscribers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_pkey PRIMARY KEY (alert_id, notifier_id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.verifications
    ADD CONSTRAINT verifications_pkey PRIMARY KEY (digest);
CREATE INDEX alert_events_alert ON public.alert_events USING btree (alert_id, id);
CREATE INDEX alerts_due ON public.alerts USING btree (due) WHERE (due IS NOT NULL);
CREATE INDEX alerts_monitor ON public.alerts USING btree (monitor_id, id);
CREATE INDEX alerts_open ON public.alerts USING btree (team_id, id) WHERE (ended IS NULL);
CREATE INDEX alerts_remind_at ON public.alerts USING btree (remind_at) WHERE (remind_at IS NOT NULL);
CREATE INDEX alerts_team ON public.alerts USING btree (team_id, id);
CREATE INDEX alerts_team_due ON public.alerts USING btree (team_id, due) WHERE (due IS NOT NULL);
CREATE UNIQUE INDEX api_keys_digest ON public.api_keys USING btree (digest);
CREATE INDEX api_keys_expires ON public.api_keys USING btree (expires) WHERE (expires IS NOT NULL);
CREATE INDEX api_keys_team ON public.api_keys USING btree (team_id);
CREATE INDEX api_keys_user ON public.api_keys USING btree (user_id);
CREATE INDEX asks_created ON public.asks USING btree (created);
CREATE INDEX asks_monitor ON public.asks USING btree (monitor_id);
CREATE INDEX asks_open ON public.asks USING btree (slot) WHERE (answer IS NULL);
CREATE INDEX audit_actor ON public.audit USING btree (actor_id, chain, seq);
CREATE INDEX audit_at ON public.audit USING btree (at);
CREATE INDEX audit_object ON public.audit USING btree (object_id);
CREATE INDEX audit_streams_due ON public.audit_streams USING btree (next_try) WHERE (disabled_at IS NULL);
CREATE INDEX audit_streams_team ON public.audit_streams USING btree (team_id);
CREATE INDEX blocks_phases ON public.blocks USING btree (monitor_id, from_at) WHERE (phases IS NOT NULL);
CREATE UNIQUE INDEX blocks_place ON public.blocks USING btree (monitor_id, from_at);
CREATE INDEX component_monitors_monitor ON public.component_monitors USING btree (monitor_id);
CREATE INDEX components_page ON public.components USING btree (page_id);
CREATE INDEX components_section ON public.components USING btree (section_id);
CREATE UNIQUE INDEX contact_rules_feed ON public.contact_rules USING btree (feed_digest) WHERE (feed_digest IS NOT NULL);
CREATE INDEX contact_rules_team ON public.contact_rules USING btree (team_id);
CREATE INDEX contacts_email ON public.contacts USING btree (lower(email));
CREATE INDEX deliveries_alert ON public.deliveries USING btree (alert_id);
CREATE INDEX deliveries_digest ON public.deliveries USING btree (digest) WHERE (digest IS NOT NULL);
CREATE UNIQUE INDEX deliveries_event ON public.deliveries USING btree (eventid, notifier_id);
CREATE INDEX deliveries_left_to ON public.deliveries USING btree (state, next_try) WHERE (left_to IS NOT NULL);
CREATE INDEX deliveries_monitor ON public.deliveries USING btree (monitor_id);
CREATE INDEX deliveries_next_try ON public.deliveries USING btree (next_try) WHERE (next_try IS NOT NULL);
CREATE INDEX deliveries_notifier ON public.deliveries USING btree (notifier_id);
CREATE INDEX deliveries_team ON public.deliveries USING btree (team_id);
CREATE INDEX deliveries_waiting ON public.deliveries USING btree (team_id, notifier_id, line, sequence, id, next_try, lease_until, created, claims, claimed_by, state, left_to, is_step, attempts) WHERE ((state = 'waiting'::text) AND (left_to IS NULL));
CREATE INDEX dependencies_parent ON public.dependencies USING btree (parent_id);
CREATE INDEX dependencies_team ON public.dependencies USING btree (team_id);
CREATE INDEX evidence_by_time ON public.evidence USING btree (at);
CREATE INDEX evidence_of_alert ON public.evidence USING btree (alert_id) WHERE (alert_id IS NOT NULL);
CREATE INDEX evidence_of_monitor ON public.evidence USING btree (monitor_id, at);
CREATE INDEX exclusions_changed ON public.exclusions USING btree (changed);
CREATE INDEX exclusions_monitor ON public.exclusions USING btree (monitor_id, from_at);
CREATE INDEX exclusions_open ON public.exclusions USING btree (monitor_id) WHERE (to_at IS NULL);
CREATE INDEX exclusions_recount ON public.exclusions USING btree (id) WHERE recount;
CREATE INDEX incident_components_component ON public.incident_components USING btree (component_id);
CREATE INDEX incident_pages_page ON public.incident_pages USING btree (page_id);
CREATE INDEX incident_templates_team ON public.incident_templates USING btree (team_id, id);
CREATE INDEX incident_updates_incident ON public.incident_updates USING btree (incident_id, id);
CREATE INDEX incidents_next ON public.incidents USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX incidents_rule ON public.incidents USING btree (rule_id) WHERE (rule_id IS NOT NULL);
CREATE INDEX incidents_team ON public.incidents USING btree (team_id, id);
CREATE UNIQUE INDEX invitations_digest ON public.invitations USING btree (digest);
CREATE UNIQUE INDEX invitations_email ON public.invitations USING btree (team_id, email_key);
CREATE INDEX invitations_expires ON public.invitations USING btree (expires);
CREATE INDEX invitations_invited_by ON public.invitations USING btree (invited_by);
CREATE UNIQUE INDEX invoices_open ON public.invoices USING btree (team_id) WHERE (state = 'open'::text);
CREATE UNIQUE INDEX invoices_period ON public.invoices USING btree (team_id, plan, period_from) WHERE (state <> 'void'::text);
CREATE UNIQUE INDEX invoices_serial ON public.invoices USING btree (team_id, serial);
CREATE INDEX limits_started ON public.limits USING btree (started);
CREATE INDEX mails_next_try ON public.mails USING btree (next_try);
CREATE INDEX maintenances_next ON public.maintenances USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX maintenances_team ON public.maintenances USING btree (team_id);
CREATE INDEX members_user ON public.members USING btree (user_id);
CREATE INDEX memberships_due ON public.memberships USING btree (due) WHERE (due IS NOT NULL);
CREATE INDEX memberships_method ON public.memberships USING btree (method_id);
CREATE INDEX monitor_filter_monitors_monitor ON public.monitor_filter_monitors USING btree (monitor_id);
CREATE INDEX monitor_filters_team ON public.monitor_filters USING btree (team_id);
CREATE INDEX monitor_notifiers_notifier ON public.monitor_notifiers USING btree (notifier_id);
CREATE INDEX monitors_groups ON public.monitors USING btree (team_id) WHERE (kind = 'group'::text);
CREATE INDEX monitors_long_requests ON public.monitors USING btree (team_id, length(secret)) WHERE (length(secret) > 16384);
CREATE INDEX monitors_modified ON public.monitors USING btree (modified);
CREATE UNIQUE INDEX monitors_ping_digest ON public.monitors USING btree (ping_digest) WHERE (ping_digest IS NOT NULL);
CREATE INDEX monitors_policy ON public.monitors USING btree (policy_id) WHERE (policy_id IS NOT NULL);
CREATE UNIQUE INDEX monitors_push_digest ON public.monitors USING btree (push_digest);
CREATE INDEX monitors_slot ON public.monitors USING btree (slot, id);
CREATE UNIQUE INDEX monitors_slug ON public.monitors USING btree (team_id, slug) WHERE (slug IS NOT NULL);
CREATE INDEX monitors_team ON public.monitors USING btree (team_id, id);
CREATE INDEX monitors_without_ping_url ON public.monitors USING btree (id) WHERE ((kind = 'api'::text) AND (ping_digest IS NULL));
CREATE INDEX notifiers_owner ON public.notifiers USING btree (owner_id) WHERE (owner_id IS NOT NULL);
CREATE INDEX notifiers_team ON public.notifiers USING btree (team_id, id);
CREATE UNIQUE INDEX notifiers_user ON public.notifiers USING btree (user_id, team_id) WHERE (user_id IS NOT NULL);
CREATE UNIQUE INDEX notifiers_webpush ON public.notifiers USING btree (owner_id, team_id) WHERE (kind = 'webpush'::text);
CREATE INDEX overrides_schedule ON public.overrides USING btree (schedule_id, ends);
CREATE INDEX overrides_user ON public.overrides USING btree (user_id);
CREATE INDEX payment_attempts_next ON public.payment_attempts USING btree (next_try) WHERE (state = ANY (ARRAY['waiting'::text, 'refund'::text]));
CREATE UNIQUE INDEX payment_attempts_open ON public.payment_attempts USING btree (team_id) WHERE (state = 'waiting'::text);
CREATE UNIQUE INDEX payment_methods_default ON public.payment_methods USING btree (team_id) WHERE isdefault;
CREATE UNIQUE INDEX payment_methods_reference ON public.payment_methods USING btree (reference);
CREATE INDEX payment_methods_team ON public.payment_methods USING btree (team_id, id);
CREATE INDEX pending_signups_email ON public.pending_signups USING btree (email_key);
CREATE INDEX pending_signups_expires ON public.pending_signups USING btree (expires);
CREATE INDEX pings_by_time ON public.pings USING btree (at);
CREATE UNIQUE INDEX pings_of_monitor ON public.pings USING btree (monitor_id, n);
CREATE INDEX policies_team ON public.policies USING btree (team_id, id);
CREATE UNIQUE INDEX push_subscriptions_user ON public.push_subscriptions USING btree (user_id, digest);
CREATE UNIQUE INDEX resets_user ON public.resets USING btree (user_id);
CREATE UNIQUE INDEX rollups_place ON public.rollups USING btree (monitor_id, grain, at);
CREATE UNIQUE INDEX schedules_feed ON public.schedules USING btree (feed_digest) WHERE (feed_digest IS NOT NULL);
CREATE INDEX schedules_next ON public.schedules USING btree (next_at) WHERE (next_at IS NOT NULL);
CREATE INDEX schedules_team ON public.schedules USING btree (team_id, id);
CREATE INDEX sections_page ON public.sections USING btree (page_id);
CREATE INDEX sent_mails_at ON public.sent_mails USING btree (at);
CREATE INDEX sent_mails_recipient ON public.sent_mails USING btree (recipient, at);
CREATE INDEX sessions_api_key ON public.sessions USING btree (api_key_id) WHERE (api_key_id IS NOT NULL);
CREATE UNIQUE INDEX sessions_digest ON public.sessions USING btree (digest);
CREATE INDEX sessions_last_used ON public.sessions USING btree (last_used);
CREATE INDEX sessions_team ON public.sessions USING btree (team_id) WHERE (team_id IS NOT NULL);
CREATE INDEX sessions_user ON public.sessions USING btree (user_id);
CREATE INDEX statuspage_deliveries_due ON public.statuspage_deliveries USING btree (queue, next_try) WHERE (next_try IS NOT NULL);
CREATE INDEX statuspage_deliveries_event ON public.statuspage_deliveries USING btree (event_id, state);
CREATE INDEX statuspage_domains_page ON public.statuspage_domains USING btree (page_id);
CREATE INDEX statuspage_events_incident ON public.statuspage_events USING btree (incident_id);
CREATE INDEX statuspage_events_open ON public.statuspage_events USING btree (id) WHERE (completed IS NULL);
CREATE INDEX statuspage_events_page ON public.statuspage_events USING btree (page_id);
CREATE INDEX statuspage_events_update ON public.statuspage_events USING btree (update_id);
CREATE INDEX statuspage_rules_page ON public.statuspage_rules USING btree (page_id);
CREATE INDEX statuspage_slugs_page ON public.statuspage_slugs USING btree (page_id);
CREATE INDEX statuspages_team ON public.statuspages USING btree (team_id, id);
CREATE UNIQUE INDEX subscribers_digest ON public.subscribers USING btree (digest, page_id);
CREATE INDEX subscribers_ended ON public.subscribers USING btree (ended) WHERE (ended IS NOT NULL);
CREATE INDEX subscribers_page ON public.subscribers USING btree (page_id, id);
CREATE INDEX subscribers_pending ON public.subscribers USING btree (token_until) WHERE (state = 'pending'::text);
CREATE INDEX subscribers_token ON public.subscribers USING btree (token) WHERE (token IS NOT NULL);
CREATE INDEX teams_deleted ON public.teams USING btree (id) WHERE (deleted_at IS NOT NULL);
CREATE UNIQUE INDEX teams_ping_key ON public.teams USING btree (ping_key_digest) WHERE (ping_key_digest IS NOT NULL);
CREATE INDEX teams_suspended ON public.teams USING btree (id) WHERE ((suspended_at IS NOT NULL) OR (resumed_at IS NOT NULL));
CREATE INDEX threads_keepalive ON public.threads USING btree (notifier_id, keepalive_at) WHERE (keepalive_at IS NOT NULL);
CREATE INDEX threads_notifier ON public.threads USING btree (notifier_id);
CREATE INDEX users_admin ON public.users USING btree (id) WHERE is_admin;
CREATE UNIQUE INDEX users_email_key ON public.users USING btree (email_key);
CREATE INDEX users_team ON public.users USING btree (team_id);
CREATE INDEX verifications_expires ON public.verifications USING btree (expires);
CREATE INDEX verifications_user ON public.verifications USING btree (user_id);
CREATE TRIGGER api_keys_filter AFTER DELETE ON public.api_keys FOR EACH ROW WHEN ((old.filter_id IS NOT NULL)) EXECUTE FUNCTION public.delete_monitor_filter();
CREATE TRIGGER api_keys_team AFTER INSERT ON public.api_keys FOR EACH ROW WHEN ((new.team_id IS NULL)) EXECUTE FUNCTION public.set_api_key_team();
CREATE TRIGGER deliveries_line BEFORE INSERT ON public.deliveries FOR EACH ROW WHEN ((new.line IS NULL)) EXECUTE FUNCTION public.deliveries_line();
CREATE TRIGGER invitations_filter AFTER DELETE ON public.invitations FOR EACH ROW WHEN ((old.filter_id IS NOT NULL)) EXECUTE FUNCTION public.delete_monitor_filter();
CREATE TRIGGER members_filter AFTER DELETE ON public.members FOR EACH ROW WHEN ((old.filter_id IS NOT NULL)) EXECUTE FUNCTION public.delete_monitor_filter();
CREATE TRIGGER monitors_add_tags AFTER INSERT ON public.monitors FOR EACH ROW WHEN ((new.tags <> '[]'::text)) EXECUTE FUNCTION public.add_monitor_tags();
CREATE TRIGGER monitors_change_tags AFTER UPDATE OF tags ON public.monitors FOR EACH ROW WHEN ((new.tags <> old.tags)) EXECUTE FUNCTION public.change_monitor_tags();
CREATE TRIGGER monitors_changed_in_maintenance AFTER UPDATE OF tags ON public.monitors FOR EACH ROW WHEN ((new.tags <> old.tags)) EXECUTE FUNCTION public.look_at_maintenance();
CREATE TRIGGER monitors_graves AFTER DELETE ON public.monitors FOR EACH ROW EXECUTE FUNCTION public.bury_monitor();
CREATE TRIGGER payment_customers_removals AFTER DELETE ON public.payment_customers FOR EACH ROW EXECUTE FUNCTION public.remove_at_processor('customer');
CREATE TRIGGER payment_methods_removals AFTER DELETE ON public.payment_methods FOR EACH ROW EXECUTE FUNCTION public.remove_at_processor('method');
CREATE TRIGGER teams_audit AFTER DELETE ON public.teams FOR EACH ROW EXECUTE FUNCTION public.teams_audit();
CREATE TRIGGER users_first_admin AFTER DELETE ON public.users FOR EACH STATEMENT EXECUTE FUNCTION public.delete_first_admin();
CREATE TRIGGER users_managed_by AFTER INSERT ON public.users FOR EACH ROW WHEN ((new.managed_by IS NULL)) EXECUTE FUNCTION public.set_managed_by();
CREATE TRIGGER users_members AFTER INSERT ON public.users FOR EACH ROW EXECUTE FUNCTION public.add_member();
ALTER TABLE ONLY public.alert_events
    ADD CONSTRAINT alert_events_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES public.alerts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_filter_id_fkey FOREIGN KEY (filter_id) REFERENCES public.monitor_filters(id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.asks
    ADD CONSTRAINT asks_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.audit_streams
    ADD CONSTRAINT audit_streams_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.certificates
    ADD CONSTRAINT certificates_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.component_monitors
    ADD CONSTRAINT component_monitors_component_id_fkey FOREIGN KEY (component_id) REFERENCES public.components(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.component_monitors
    ADD CONSTRAINT component_monitors_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.components
    ADD CONSTRAINT components_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.components
    ADD CONSTRAINT components_section_id_fkey FOREIGN KEY (section_id) REFERENCES public.sections(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.contact_rules
    ADD CONSTRAINT contact_rules_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.contact_rules
    ADD CONSTRAINT contact_rules_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES public.alerts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_notifier_id_fkey FOREIGN KEY (notifier_id) REFERENCES public.notifiers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dependencies
    ADD CONSTRAINT dependencies_child_id_fkey FOREIGN KEY (child_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dependencies
    ADD CONSTRAINT dependencies_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.dependencies
    ADD CONSTRAINT dependencies_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.inbound
    ADD CONSTRAINT inbound_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.incident_components
    ADD CONSTRAINT incident_components_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES public.incidents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.incident_pages
    ADD CONSTRAINT incident_pages_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES public.incidents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.incident_pages
    ADD CONSTRAINT incident_pages_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.incident_templates
    ADD CONSTRAINT incident_templates_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.incident_updates
    ADD CONSTRAINT incident_updates_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES public.incidents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.incidents
    ADD CONSTRAINT incidents_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_filter_id_fkey FOREIGN KEY (filter_id) REFERENCES public.monitor_filters(id);
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES public.users(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invoices
    ADD CONSTRAINT invoices_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.maintenances
    ADD CONSTRAINT maintenances_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_filter_id_fkey FOREIGN KEY (filter_id) REFERENCES public.monitor_filters(id);
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.members
    ADD CONSTRAINT members_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_method_id_fkey FOREIGN KEY (method_id) REFERENCES public.payment_methods(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_filter_monitors
    ADD CONSTRAINT monitor_filter_monitors_filter_id_fkey FOREIGN KEY (filter_id) REFERENCES public.monitor_filters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_filter_monitors
    ADD CONSTRAINT monitor_filter_monitors_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_filter_tags
    ADD CONSTRAINT monitor_filter_tags_filter_id_fkey FOREIGN KEY (filter_id) REFERENCES public.monitor_filters(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_filters
    ADD CONSTRAINT monitor_filters_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_notifiers
    ADD CONSTRAINT monitor_notifiers_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_notifiers
    ADD CONSTRAINT monitor_notifiers_notifier_id_fkey FOREIGN KEY (notifier_id) REFERENCES public.notifiers(id);
ALTER TABLE ONLY public.monitor_states
    ADD CONSTRAINT monitor_states_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_tags
    ADD CONSTRAINT monitor_tags_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitors
    ADD CONSTRAINT monitors_policy_id_fkey FOREIGN KEY (policy_id) REFERENCES public.policies(id);
ALTER TABLE ONLY public.monitors
    ADD CONSTRAINT monitors_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.notifiers
    ADD CONSTRAINT notifiers_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.notifiers
    ADD CONSTRAINT notifiers_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.notifiers
    ADD CONSTRAINT notifiers_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.overrides
    ADD CONSTRAINT overrides_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES public.schedules(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.overrides
    ADD CONSTRAINT overrides_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.payment_customers
    ADD CONSTRAINT payment_customers_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.payment_methods
    ADD CONSTRAINT payment_methods_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.pings
    ADD CONSTRAINT pings_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.policies
    ADD CONSTRAINT policies_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.push_subscriptions
    ADD CONSTRAINT push_subscriptions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.resets
    ADD CONSTRAINT resets_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.routing
    ADD CONSTRAINT routing_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.schedules
    ADD CONSTRAINT schedules_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sections
    ADD CONSTRAINT sections_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_deliveries
    ADD CONSTRAINT statuspage_deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES public.statuspage_events(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_deliveries
    ADD CONSTRAINT statuspage_deliveries_subscriber_id_fkey FOREIGN KEY (subscriber_id) REFERENCES public.subscribers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_domains
    ADD CONSTRAINT statuspage_domains_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_events
    ADD CONSTRAINT statuspage_events_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES public.incidents(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_events
    ADD CONSTRAINT statuspage_events_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_events
    ADD CONSTRAINT statuspage_events_update_id_fkey FOREIGN KEY (update_id) REFERENCES public.incident_updates(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_images
    ADD CONSTRAINT statuspage_images_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_rules
    ADD CONSTRAINT statuspage_rules_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspage_slugs
    ADD CONSTRAINT statuspage_slugs_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.statuspages
    ADD CONSTRAINT statuspages_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.subscribers
    ADD CONSTRAINT subscribers_page_id_fkey FOREIGN KEY (page_id) REFERENCES public.statuspages(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES public.alerts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_notifier_id_fkey FOREIGN KEY (notifier_id) REFERENCES public.notifiers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.verifications
    ADD CONSTRAINT verifications_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
