CREATE FUNCTION public.bury_monitor() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
    insert into graves (monitor_id) values (old.id);
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
CREATE TABLE public.alerts (
    id uuid NOT NULL,
    team_id uuid NOT NULL,
    monitor_id uuid NOT NULL,
    kind text NOT NULL,
    cause text NOT NULL,
    started bigint NOT NULL,
    ended bigint,
    remind_at bigint
);
CREATE TABLE public.api_keys (
    id uuid NOT NULL,
    digest bytea NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    prefix text NOT NULL,
    stands_for bytea NOT NULL,
    created bigint NOT NULL,
    last_used bigint
);
CREATE TABLE public.asks (
    id uuid NOT NULL,
    monitor_id uuid NOT NULL,
    slot bigint NOT NULL,
    body text NOT NULL,
    answer text,
    created bigint NOT NULL
);
CREATE TABLE public.blocks (
    monitor_id uuid NOT NULL,
    from_at bigint NOT NULL,
    to_at bigint NOT NULL,
    count bigint NOT NULL,
    data bytea NOT NULL,
    phases bytea,
    regions bytea
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
    monitor_id uuid NOT NULL,
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
    recipients text
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
    regions text
);
ALTER TABLE ONLY public.heartbeats ALTER COLUMN phases SET STATISTICS 0;
ALTER TABLE ONLY public.heartbeats ALTER COLUMN regions SET STATISTICS 0;
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
    blocked boolean DEFAULT false NOT NULL
)
WITH (fillfactor='60');
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
    resend_interval bigint DEFAULT 0 NOT NULL
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
    isdefault boolean DEFAULT false NOT NULL
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
CREATE TABLE public.recovery_codes (
    user_id uuid NOT NULL,
    digest bytea NOT NULL
);
CREATE TABLE public.resets (
    digest bytea NOT NULL,
    user_id uuid NOT NULL,
    expires bigint NOT NULL,
    email_key text DEFAULT ''::text NOT NULL
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
CREATE TABLE public.schema_migrations (
    name text NOT NULL,
    checksum text NOT NULL
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
    api_key_id uuid
);
CREATE TABLE public.slots (
    slot bigint NOT NULL,
    owner uuid,
    epoch bigint DEFAULT 0 NOT NULL,
    orphaned bigint
);
CREATE TABLE public.teams (
    id uuid NOT NULL,
    created bigint NOT NULL,
    modified bigint NOT NULL,
    over_since bigint,
    history_days bigint,
    history_fall_days bigint,
    history_fall_at bigint
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
    modified bigint NOT NULL
);
INSERT INTO public.alerts VALUES ('01a1e996-a404-7cfc-8805-ecb9bae944e6', '01a1e996-9fc0-7363-b3b0-9abea1d9587a', '01a1e996-a285-7249-b0ee-2738994639f2', 'outage', 'it is down', 1794920326148, 1794920326194, NULL);
INSERT INTO public.alerts VALUES ('01a1e996-a536-77f9-bc80-21b975f715b3', '01a1e996-9fc0-7363-b3b0-9abea1d9587a', '01a1e996-a285-7249-b0ee-2738994639f2', 'outage', 'it is down', 1794920326454, NULL, NULL);
INSERT INTO public.api_keys VALUES ('01a1e996-a5cc-7d0b-9fff-c70ae2eb9c55', '\x8d726c22107f8ea60cc7ff4fe654f8fec87b9b77aec48fee54334f44a2a591e1', '01a1e996-a159-777c-88ac-e54ca943dd3e', 'my script', 'wka_OmCX-T', '\x4a4cdb8efa93a822af5a6cc507a73e9fb005d533ad1b57ee8d447822058456d5de92f7de4960e86e300f7728b9916fc3b6474e9e1ec1b7ad8d339ed6c3cbd8d63943339d9cd041fc2fe6f6a118610ff686df9e2849887ada3df9994e595e1bbe0a2e201a7ad0fa048e0cdfdee7e8d96ceff2ca4f56de2ee1d246a1edb798044c503356115d0057aba5f444b8eb196db0a024a827', 1794920326613, NULL);
INSERT INTO public.heartbeats VALUES ('01a1e996-a285-7249-b0ee-2738994639f2', 1794920325982, 1, 'up', 'it is up', NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1e996-a285-7249-b0ee-2738994639f2', 1794920326093, 2, 'up', 'it is up', NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1e996-a285-7249-b0ee-2738994639f2', 1794920326148, 3, 'down', 'it is down', NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1e996-a285-7249-b0ee-2738994639f2', 1794920326194, 4, 'up', 'it is up', NULL, NULL, NULL);
INSERT INTO public.heartbeats VALUES ('01a1e996-a285-7249-b0ee-2738994639f2', 1794920326454, 5, 'down', 'it is down', NULL, NULL, NULL);
INSERT INTO public.limits VALUES ('\x900c2279e8fb799a2913a899c9891863035de800b4d84c2975e012266e57f5e0', 1794920325044, 1);
INSERT INTO public.meta VALUES ('keyring', '\x01c4ead5ceb63f99f42e28c485d96db9c8fdc37a6f80658627e9b0474cac7939ee9f892fdbaafe0e74fb621efa243e8005d566a3');
INSERT INTO public.meta VALUES ('listened_until', '\x31373934393230333236363934');
INSERT INTO public.monitor_notifiers VALUES ('01a1e996-a285-7249-b0ee-2738994639f2', '01a1e996-a247-7a13-b58b-f69b61c5526d', 0);
INSERT INTO public.monitor_notifiers VALUES ('01a1e996-a30f-7bac-8d00-9d8347e72776', '01a1e996-a247-7a13-b58b-f69b61c5526d', 0);
INSERT INTO public.monitor_states VALUES ('01a1e996-a285-7249-b0ee-2738994639f2', 'down', 1794920326454, 1794920326454, 'it is down', NULL, '{"checks":1,"started":1794920326454,"cause":"it is down"}', NULL, 5, false);
INSERT INTO public.monitor_states VALUES ('01a1e996-a30f-7bac-8d00-9d8347e72776', 'pending', NULL, NULL, '', NULL, NULL, NULL, 0, false);
INSERT INTO public.monitors VALUES ('01a1e996-a285-7249-b0ee-2738994639f2', '01a1e996-9fc0-7363-b3b0-9abea1d9587a', 'nightly backup', 'api', '{"type":"api"}', NULL, true, 86400, NULL, NULL, 1, false, '[]', 'nightly backup
', '\x74961b91d32229dfb4f2c2f584808d155e3d167819dc2e75e66755e5dee40fe1', '\x01c4ead5ce23ffdcb5056958e0509f7da3c0d8c354d35b3bcdc2bdecb8b3fcbcaa2d96402f02c8258b54b5b0cfb443ae7ef8997f867ed84fb8ca918d072b75a6eb45fe23c05a4b025efba2459c', 1, 1794920325765, 1794920325765, 569, '["local"]', 'majority', 0);
INSERT INTO public.monitors VALUES ('01a1e996-a30f-7bac-8d00-9d8347e72776', '01a1e996-9fc0-7363-b3b0-9abea1d9587a', 'site', 'http', '{"type":"http","url":"http://127.0.0.1:9/","method":"GET","accepted":"200-299","keyword":"","body":"","headers":"","authentication":"none","username":"","ignore_tls_error":false,"certificate_expiry_notification":false,"max_redirects":10}', NULL, false, 3600, NULL, NULL, 1, false, '["prod","eu"]', 'site
http://127.0.0.1:9/
prod
eu', NULL, NULL, 1, 1794920325903, 1794920325903, 807, '["local"]', 'majority', 0);
INSERT INTO public.notifiers VALUES ('01a1e996-a247-7a13-b58b-f69b61c5526d', '01a1e996-9fc0-7363-b3b0-9abea1d9587a', 'chat', 'webhook', '""', '\x01c4ead5ceb6f1bf58f1ed1ba8182aa08c993e50dd46fda90b5639a1192062303c8f18c20a77ec23ed81d9afc1ff0f112ec3ee7a92ae362c99a8072c6c52b75a9de8896a40464dfcaa5b85f484f9a29d3ce566fec0db3f4c33d2950cb991ab45fa1ccc2cdf2fedca821e257c4ae7bd62ffe8d5a9069133aba4a8e4bfafabae641d611ea38afe0bd2c49d44337fc9ca542cc86f2049bb875f51', 1794920325703, 'turned off by its team', 1794920325703, 1794920325703, NULL, NULL, 1, NULL, '', false);
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
INSERT INTO public.sessions VALUES ('01a1e996-a159-71b3-b4bb-d12c4703a224', '\x0ae4a3849ebec7df576e2e41ac08afbf34631b4156e64158a2b0de35f9e1fc07', '01a1e996-a159-777c-88ac-e54ca943dd3e', 1794920325465, 1794920325465, '127.0.0.1', 'curl/7.88.1', NULL);
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
INSERT INTO public.teams VALUES ('01a1e996-9fc0-7363-b3b0-9abea1d9587a', 1794920325465, 1794920325465, NULL, NULL, NULL, NULL);
INSERT INTO public.users VALUES ('01a1e996-a159-777c-88ac-e54ca943dd3e', '01a1e996-9fc0-7363-b3b0-9abea1d9587a', 'ann@example.com', 'ann@example.com', '', '$argon2id$v=19$m=19456,t=2,p=1$i3SQwWf2mngZravMhPwRrw$1ZYIn35Gg8ziZavSx2nUQqrH8QgGYNh6yr0MnQGtt9I', NULL, false, 0, 0, 0, 1794920325465, 1794920325465);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.asks
    ADD CONSTRAINT asks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.certificates
    ADD CONSTRAINT certificates_pkey PRIMARY KEY (monitor_id);
ALTER TABLE ONLY public.contacts
    ADD CONSTRAINT contacts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.folds
    ADD CONSTRAINT folds_pkey PRIMARY KEY (monitor_id);
ALTER TABLE ONLY public.graves
    ADD CONSTRAINT graves_pkey PRIMARY KEY (monitor_id);
ALTER TABLE ONLY public.heartbeats
    ADD CONSTRAINT heartbeats_pkey PRIMARY KEY (monitor_id, at, seq);
ALTER TABLE ONLY public.invoices
    ADD CONSTRAINT invoices_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.limits
    ADD CONSTRAINT limits_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (team_id);
ALTER TABLE ONLY public.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.monitor_notifiers
    ADD CONSTRAINT monitor_notifiers_pkey PRIMARY KEY (monitor_id, notifier_id);
ALTER TABLE ONLY public.monitor_states
    ADD CONSTRAINT monitor_states_pkey PRIMARY KEY (monitor_id);
ALTER TABLE ONLY public.monitors
    ADD CONSTRAINT monitors_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.notifiers
    ADD CONSTRAINT notifiers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payment_attempts
    ADD CONSTRAINT payment_attempts_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payment_customers
    ADD CONSTRAINT payment_customers_pkey PRIMARY KEY (team_id);
ALTER TABLE ONLY public.payment_methods
    ADD CONSTRAINT payment_methods_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.payment_removals
    ADD CONSTRAINT payment_removals_pkey PRIMARY KEY (reference);
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_pkey PRIMARY KEY (user_id, digest);
ALTER TABLE ONLY public.resets
    ADD CONSTRAINT resets_pkey PRIMARY KEY (digest);
ALTER TABLE ONLY public.revoked_probes
    ADD CONSTRAINT revoked_probes_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.slots
    ADD CONSTRAINT slots_pkey PRIMARY KEY (slot);
ALTER TABLE ONLY public.teams
    ADD CONSTRAINT teams_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);
CREATE INDEX alerts_monitor ON public.alerts USING btree (monitor_id, id);
CREATE INDEX alerts_remind_at ON public.alerts USING btree (remind_at) WHERE (remind_at IS NOT NULL);
CREATE INDEX alerts_team ON public.alerts USING btree (team_id, id);
CREATE UNIQUE INDEX api_keys_digest ON public.api_keys USING btree (digest);
CREATE INDEX api_keys_user ON public.api_keys USING btree (user_id);
CREATE INDEX asks_created ON public.asks USING btree (created);
CREATE INDEX asks_monitor ON public.asks USING btree (monitor_id);
CREATE INDEX asks_open ON public.asks USING btree (slot) WHERE (answer IS NULL);
CREATE INDEX blocks_phases ON public.blocks USING btree (monitor_id, from_at) WHERE (phases IS NOT NULL);
CREATE UNIQUE INDEX blocks_place ON public.blocks USING btree (monitor_id, from_at);
CREATE INDEX deliveries_alert ON public.deliveries USING btree (alert_id);
CREATE UNIQUE INDEX deliveries_event ON public.deliveries USING btree (eventid, notifier_id);
CREATE INDEX deliveries_line ON public.deliveries USING btree (monitor_id, notifier_id, sequence);
CREATE INDEX deliveries_next_try ON public.deliveries USING btree (next_try) WHERE (next_try IS NOT NULL);
CREATE INDEX deliveries_notifier ON public.deliveries USING btree (notifier_id);
CREATE INDEX deliveries_team ON public.deliveries USING btree (team_id);
CREATE INDEX deliveries_waiting ON public.deliveries USING btree (monitor_id, notifier_id, sequence, id) WHERE ((state = 'waiting'::text) AND (left_to IS NULL));
CREATE UNIQUE INDEX invoices_open ON public.invoices USING btree (team_id) WHERE (state = 'open'::text);
CREATE UNIQUE INDEX invoices_period ON public.invoices USING btree (team_id, plan, period_from) WHERE (state <> 'void'::text);
CREATE UNIQUE INDEX invoices_serial ON public.invoices USING btree (team_id, serial);
CREATE INDEX limits_started ON public.limits USING btree (started);
CREATE INDEX mails_next_try ON public.mails USING btree (next_try);
CREATE INDEX memberships_due ON public.memberships USING btree (due) WHERE (due IS NOT NULL);
CREATE INDEX memberships_method ON public.memberships USING btree (method_id);
CREATE INDEX monitor_notifiers_notifier ON public.monitor_notifiers USING btree (notifier_id);
CREATE INDEX monitors_modified ON public.monitors USING btree (modified);
CREATE UNIQUE INDEX monitors_push_digest ON public.monitors USING btree (push_digest);
CREATE INDEX monitors_slot ON public.monitors USING btree (slot, id);
CREATE INDEX monitors_team ON public.monitors USING btree (team_id, id);
CREATE INDEX notifiers_team ON public.notifiers USING btree (team_id, id);
CREATE INDEX payment_attempts_next ON public.payment_attempts USING btree (next_try) WHERE (state = ANY (ARRAY['waiting'::text, 'refund'::text]));
CREATE UNIQUE INDEX payment_attempts_open ON public.payment_attempts USING btree (team_id) WHERE (state = 'waiting'::text);
CREATE UNIQUE INDEX payment_methods_default ON public.payment_methods USING btree (team_id) WHERE isdefault;
CREATE UNIQUE INDEX payment_methods_reference ON public.payment_methods USING btree (reference);
CREATE INDEX payment_methods_team ON public.payment_methods USING btree (team_id, id);
CREATE UNIQUE INDEX resets_user ON public.resets USING btree (user_id);
CREATE UNIQUE INDEX rollups_place ON public.rollups USING btree (monitor_id, grain, at);
CREATE INDEX sent_mails_at ON public.sent_mails USING btree (at);
CREATE INDEX sent_mails_recipient ON public.sent_mails USING btree (recipient, at);
CREATE INDEX sessions_api_key ON public.sessions USING btree (api_key_id) WHERE (api_key_id IS NOT NULL);
CREATE UNIQUE INDEX sessions_digest ON public.sessions USING btree (digest);
CREATE INDEX sessions_last_used ON public.sessions USING btree (last_used);
CREATE INDEX sessions_user ON public.sessions USING btree (user_id);
CREATE UNIQUE INDEX users_email_key ON public.users USING btree (email_key);
CREATE INDEX users_team ON public.users USING btree (team_id);
CREATE TRIGGER monitors_graves AFTER DELETE ON public.monitors FOR EACH ROW EXECUTE FUNCTION public.bury_monitor();
CREATE TRIGGER payment_customers_removals AFTER DELETE ON public.payment_customers FOR EACH ROW EXECUTE FUNCTION public.remove_at_processor('customer');
CREATE TRIGGER payment_methods_removals AFTER DELETE ON public.payment_methods FOR EACH ROW EXECUTE FUNCTION public.remove_at_processor('method');
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.asks
    ADD CONSTRAINT asks_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.certificates
    ADD CONSTRAINT certificates_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_alert_id_fkey FOREIGN KEY (alert_id) REFERENCES public.alerts(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_notifier_id_fkey FOREIGN KEY (notifier_id) REFERENCES public.notifiers(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.deliveries
    ADD CONSTRAINT deliveries_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.invoices
    ADD CONSTRAINT invoices_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_method_id_fkey FOREIGN KEY (method_id) REFERENCES public.payment_methods(id) ON DELETE SET NULL;
ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_notifiers
    ADD CONSTRAINT monitor_notifiers_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitor_notifiers
    ADD CONSTRAINT monitor_notifiers_notifier_id_fkey FOREIGN KEY (notifier_id) REFERENCES public.notifiers(id);
ALTER TABLE ONLY public.monitor_states
    ADD CONSTRAINT monitor_states_monitor_id_fkey FOREIGN KEY (monitor_id) REFERENCES public.monitors(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.monitors
    ADD CONSTRAINT monitors_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.notifiers
    ADD CONSTRAINT notifiers_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.payment_customers
    ADD CONSTRAINT payment_customers_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.payment_methods
    ADD CONSTRAINT payment_methods_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.recovery_codes
    ADD CONSTRAINT recovery_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.resets
    ADD CONSTRAINT resets_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES public.api_keys(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_team_id_fkey FOREIGN KEY (team_id) REFERENCES public.teams(id) ON DELETE CASCADE;
