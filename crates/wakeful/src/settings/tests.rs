use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;

use super::*;

const HANDBOOK: &str = include_str!("../../../../docs/configuration.md");

/// One attempt to start: a settings file, variables and flags.
#[derive(Default)]
struct Start {
    file: Option<tempfile::NamedTempFile>,
    variables: Vec<(String, String)>,
    flags: Flags,
}

impl Start {
    fn file(mut self, text: &str) -> Self {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        file.write_all(text.as_bytes()).expect("written");
        self.flags.config = Some(file.path().to_str().expect("text").to_owned());
        self.file = Some(file);
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn listen(mut self, value: &str) -> Self {
        self.flags.listen = Some(value.to_owned());
        self
    }

    fn load(&self) -> Result<Settings, SettingsError> {
        Settings::load(&self.flags, self.variables.clone())
    }

    fn settings(&self) -> Settings {
        self.load().expect("accepted")
    }

    /// The error messages, with FILE in place of the temporary file's path.
    fn refusal(&self) -> String {
        let text = self.load().expect_err("refused").to_string();
        text.replace(self.flags.config.as_deref().unwrap_or("\0"), "FILE")
    }
}

fn start() -> Start {
    Start::default()
}

const PLANS: &str = r#"
[[billing.plans]]
id = "none"
name = "Free"
price = 0
monitors = 10
shortest_interval = 300
users = 1
history_days = 7

[[billing.plans]]
id = "team"
price = "19.50"
monitors = 500
shortest_interval = 30
history_days = 365

[[billing.plans]]
id = "house"
name = "In-house"
price = "contract"
shortest_interval = 1
history_days = 3650
"#;

#[test]
fn an_operator_can_define_plans() {
    assert_eq!(start().settings().billing.catalog, Catalog::built_in());
    let plans = start().file(PLANS).settings().billing.catalog;
    let found: Vec<String> = plans
        .plans()
        .iter()
        .map(|plan| {
            format!("{} {} {:?} {:?}", plan.id, plan.name, plan.price, plan.limits.monitors)
        })
        .collect();
    assert_eq!(
        found,
        [
            "none Free Free Some(10)",
            "team team Monthly(Money(1950)) Some(500)",
            "house In-house Contract None",
        ]
    );
    assert_eq!(plans.none().limits.history_days, 7);
    let one = r#"[{id = "none", price = 0, shortest_interval = 60, history_days = 1}]"#;
    let by_variable = start().variable("WAKEFUL_BILLING_PLANS", one).settings();
    assert_eq!(by_variable.billing.catalog.plans().len(), 1);
}

#[test]
fn an_invalid_plan_is_explained_in_one_sentence() {
    for (right, wrong, sentence) in [
        (
            "id = \"team\"",
            "id = \"The team\"",
            "plan 2 (The team): id must have 1 to 32 of the characters a-z, 0-9, - and _",
        ),
        (
            "\"19.50\"",
            "19.5",
            "plan 2 (team): price must be dollars per month such as 9 or \"9.50\", or \"contract\"",
        ),
        (
            "\"19.50\"",
            "\"19.5\"",
            "plan 2 (team): price must be dollars per month such as 9 or \"9.50\", or \"contract\"",
        ),
        (
            "\"19.50\"",
            "-3",
            "plan 2 (team): price must be dollars per month such as 9 or \"9.50\", or \"contract\"",
        ),
        ("\"19.50\"", "0", "the list must set a price for team: only none is free"),
        (
            "price = 0",
            "price = 1",
            "the list must begin with the plan none at the price 0, where every team starts",
        ),
        (
            "monitors = 500",
            "monitors = 0",
            "plan 2 (team): monitors must be a whole number from 1 to 1000000000",
        ),
        (
            "monitors = 500",
            "monitor = 500",
            "plan 2 (team): monitor is not a field of a plan; the fields are id, name, price, monitors, shortest_interval, users, history_days, status_pages, subscribers",
        ),
        (
            "history_days = 7",
            "",
            "plan 1 (none): history_days must be a whole number from 1 to 3650",
        ),
        ("In-house", "TEAM", "the list must not have two plans named TEAM"),
    ] {
        let file = PLANS.replacen(right, wrong, 1);
        assert_ne!(file, PLANS);
        refused(&file, &format!("billing.plans (from FILE): {sentence}."));
    }
    let sentence = "billing.plans (from WAKEFUL_BILLING_PLANS) must be a list of plans, each in a table [[billing.plans]].";
    refused_variable("WAKEFUL_BILLING_PLANS", "starter", sentence);
}

fn refused(file: &str, sentence: &str) {
    assert_eq!(start().file(file).refusal(), sentence, "{file}");
}

fn refused_variable(name: &str, value: &str, sentence: &str) {
    assert_eq!(start().variable(name, value).refusal(), sentence);
}

fn defaults() -> Vec<(String, toml::Value)> {
    let table: toml::Table = DEFAULT_TOML.parse().expect("TOML");
    let mut defaults = Vec::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(section) => defaults
                .extend(section.into_iter().map(|(key, value)| (format!("{name}.{key}"), value))),
            value => defaults.push((name, value)),
        }
    }
    defaults
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let settings = start().settings();
    assert_eq!(settings.data, PathBuf::from("./data"));

    let server = &settings.server;
    assert_eq!(server.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(server.public_url(server.listen), "http://127.0.0.1:8080");
    assert!(server.trusted_proxies.is_empty() && server.cors_origins.is_empty());
    assert_eq!(server.body_limit, 1024 * 1024);
    assert!(server.metrics_listen.is_none() && server.metrics_token.is_none());
    assert_eq!(server.shutdown, Duration::from_secs(10));
    assert!(server.docs);

    assert_eq!(settings.database.url, DatabaseUrl::Sqlite("./data/wakeful.db".into()));
    assert_eq!(settings.database.max_connections, 16);
    assert!(settings.nats.url.is_none());
    assert!(settings.secrets.master_keys.is_empty());
    assert_eq!(settings.signup, SignupMode::Open);
    assert_eq!((settings.sessions.idle_days, settings.sessions.max_days), (30, 180));
    assert_eq!(settings.audit.days, 365);
    assert!(!settings.audit.log);

    let limits = &settings.limits;
    assert_eq!(limits.attempts, AttemptLimits::default());
    assert_eq!(limits.api_calls_per_minute, 6000);

    let mail = &settings.mail;
    assert!(mail.host.is_none() && mail.username.is_none() && mail.password.is_none());
    assert_eq!((mail.port, mail.security), (587, MailSecurity::StartTls));
    assert_eq!(mail.from, "Wakeful <wakeful@localhost>");
    assert!(mail.contact_to.is_none());
    assert_eq!(settings.network.egress, Egress::Private);

    let pages = &settings.statuspages;
    assert!(pages.listen.is_none() && pages.front.is_empty() && !pages.verify_domains);
    assert_eq!(pages.memory_mb, 64);
}

#[test]
fn the_printed_default_is_a_settings_file_that_changes_nothing() {
    let settings = start().file(DEFAULT_TOML).settings();
    let from_file = settings.report().matches("# from ").count();
    // All but the egress mode and the verification of domains, which are derived from others.
    assert_eq!(from_file, defaults().len() - 2);
    assert_eq!(settings.network.egress, Egress::Private);
    assert!(settings.network.egress_reason.starts_with("because "));
}

#[test]
fn every_setting_is_explained_and_documented() {
    let mut before = "";
    for line in DEFAULT_TOML.lines() {
        if line.contains(" = ") && !line.starts_with('#') {
            assert!(before.starts_with("# "), "{line}");
        }
        before = line;
    }
    for (key, value) in defaults() {
        let row = match value {
            toml::Value::Integer(_) | toml::Value::Boolean(_) => format!("| `{key}` | `{value}` |"),
            _ => format!("| `{key}` |"),
        };
        assert!(HANDBOOK.contains(&row), "{row}");
    }
}

#[test]
fn files_override_defaults_variables_override_files_and_flags_override_all() {
    let port = |start: &Start| start.settings().server.listen.port();
    let file = start().file("[server]\nlisten = \"127.0.0.1:1\"");
    assert_eq!(port(&start()), 8080);
    assert_eq!(port(&file), 1);
    let variable = file.variable("WAKEFUL_LISTEN", "127.0.0.1:2");
    assert_eq!(port(&variable), 2);
    assert_eq!(port(&variable.listen("127.0.0.1:3")), 3);
}

#[test]
fn every_flag_reaches_its_setting() {
    let mut start = start();
    start.flags = Flags {
        data: Some("d".into()),
        listen: Some("[::1]:1".into()),
        database_url: Some("sqlite:x.db".into()),
        nats_url: Some("nats://h".into()),
        config: None,
        region: Some("eu".into()),
        name: Some("one".into()),
    };
    let settings = start.settings();
    assert_eq!(settings.data, PathBuf::from("d"));
    assert_eq!(settings.server.listen.to_string(), "[::1]:1");
    assert_eq!(settings.database.url, DatabaseUrl::Sqlite("x.db".into()));
    assert_eq!(settings.nats.url, Some(Secret::new("nats://h")));
    assert_eq!(settings.probe.region.as_ref().map(Region::as_str), Some("eu"));
    assert_eq!(settings.probe.name.as_ref().map(ProbeName::as_str), Some("one"));
}

#[test]
fn a_variable_names_a_file_unless_a_flag_does() {
    let one = start().file("data = \"one\"");
    let path = one.flags.config.clone().expect("a path");
    let by_variable = start().variable("WAKEFUL_CONFIG", &path);
    assert_eq!(by_variable.settings().data, PathBuf::from("one"));
    let both = by_variable.file("data = \"two\"");
    assert_eq!(both.settings().data, PathBuf::from("two"));
}

#[test]
fn variables_can_set_numbers_booleans_and_lists() {
    let settings = start()
        .variable("WAKEFUL_MAIL_PORT", "25")
        .variable("WAKEFUL_SIGNUP_OPEN", "false")
        .variable("WAKEFUL_SERVER_TRUSTED_PROXIES", "10.0.0.0/8, ::1")
        .variable("WAKEFUL_NETWORK_EGRESS", "10.0.0.0/8,192.168.1.7")
        .settings();
    assert_eq!(settings.mail.port, 25);
    assert_eq!(settings.signup, SignupMode::Invite);
    let networks = |list: &[IpNet]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(networks(&settings.server.trusted_proxies), ["10.0.0.0/8", "::1/128"]);
    let Egress::Networks(list) = &settings.network.egress else { panic!("a list") };
    assert_eq!(networks(list), ["10.0.0.0/8", "192.168.1.7/32"]);
}

#[test]
fn values_of_every_kind_are_accepted_from_a_file() {
    let key = BASE64_KEY;
    let settings = start()
        .file(&format!(
            "data = '/srv/wakeful'
             server = {{ public_url = 'https://up.example.com/w', cors_origins = ['https://a.example:8443'],
                        metrics_listen = '127.0.0.1:9090', metrics_token = 'abc', docs = false }}
             database.url = 'postgresql://u:p@db/wakeful'
             secrets.master_key = '{key}, {key}'
             mail = {{ host = 'mail.example.com', security = 'tls', from = 'ops@example.com', contact_to = 'a@b.example' }}
             network.egress = 'public'"
        ))
        .settings();
    assert_eq!(settings.server.public_url(settings.server.listen), "https://up.example.com/w");
    assert_eq!(settings.server.cors_origins, ["https://a.example:8443"]);
    assert_eq!(settings.server.metrics_token, Some(Secret::new("abc")));
    assert_eq!(settings.secrets.master_keys, [Key::new([7; 32]), Key::new([7; 32])]);
    assert_eq!(settings.mail.security, MailSecurity::Tls);
    assert_eq!(settings.network.egress, Egress::Public);
    let postgres = DatabaseUrl::Postgres(Secret::new("postgresql://u:p@db/wakeful"));
    assert_eq!(settings.database.url, postgres);
}

/// 32 bytes of 7.
const BASE64_KEY: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";

#[test]
fn an_unknown_setting_is_rejected_with_the_nearest_known_one() {
    refused(
        "[mail]\nhots = 'x'",
        "mail.hots (from FILE) is not a setting; the nearest is mail.host.",
    );
    refused(
        "[servre]\nlisten = 'x'",
        "servre.listen (from FILE) is not a setting; the nearest is server.listen.",
    );
    refused("dta = 'x'", "dta (from FILE) is not a setting; the nearest is data.");
    refused(
        "[elsewhere]",
        "elsewhere (from FILE) is not a setting; `wakeful config default` lists them all.",
    );
    refused("mail = 3", "mail (from FILE) is a section: write its settings below a line [mail].");
}

#[test]
fn an_unknown_variable_is_rejected_with_the_nearest_known_one() {
    refused_variable(
        "WAKEFUL_MAIL_PASWORD",
        "hunter2",
        "WAKEFUL_MAIL_PASWORD is not a setting; the nearest is WAKEFUL_MAIL_PASSWORD.",
    );
    refused_variable(
        "WAKEFUL_LISTN",
        "x",
        "WAKEFUL_LISTN is not a setting; the nearest is WAKEFUL_LISTEN.",
    );
}

#[test]
fn variables_of_other_programs_of_tests_and_of_logging_are_ignored() {
    let settings = start()
        .variable("PATH", "/bin")
        .variable("WAKEFUL_LOG", "debug")
        .variable("WAKEFUL_TEST_POSTGRES", "postgres://x")
        .settings();
    assert!(!settings.report().contains("# from "));
}

#[test]
fn service_links_of_kubernetes_are_ignored_and_typos_beside_them_are_not() {
    let linked = || {
        start()
            .variable("WAKEFUL_SERVICE_HOST", "10.96.12.7")
            .variable("WAKEFUL_SERVICE_PORT", "8080")
            .variable("WAKEFUL_PORT", "tcp://10.96.12.7:8080")
            .variable("WAKEFUL_PORT_8080_TCP", "tcp://10.96.12.7:8080")
            .variable("WAKEFUL_MAIL_PORT", "tcp://10.96.12.8:25")
    };
    let settings = linked().settings();
    assert!(!settings.report().contains("# from "), "{}", settings.report());
    assert_eq!(settings.mail.port, 587);
    assert_eq!(
        linked().variable("WAKEFUL_MAIL_PASWORD", "hunter2").refusal(),
        "WAKEFUL_MAIL_PASWORD is not a setting; the nearest is WAKEFUL_MAIL_PASSWORD."
    );
    refused_variable(
        "WAKEFUL_PORT",
        "8080",
        "WAKEFUL_PORT is not a setting; the nearest is WAKEFUL_DATA.",
    );
}

#[test]
fn two_variables_for_one_setting_are_rejected() {
    let start = start()
        .variable("WAKEFUL_LISTEN", "127.0.0.1:1")
        .variable("WAKEFUL_SERVER_LISTEN", "127.0.0.1:2");
    assert_eq!(
        start.refusal(),
        "WAKEFUL_LISTEN and WAKEFUL_SERVER_LISTEN both set server.listen; remove one of them."
    );
}

#[test]
fn an_invalid_value_is_rejected_with_its_origin_and_the_accepted_values() {
    refused(
        "[server]\nlisten = 'localhost'",
        "server.listen (from FILE) must be an address and port such as 127.0.0.1:8080, not \"localhost\".",
    );
    refused_variable(
        "WAKEFUL_LISTEN",
        "8080",
        "server.listen (from WAKEFUL_LISTEN) must be an address and port such as 127.0.0.1:8080, not \"8080\".",
    );
    assert_eq!(
        start().listen(":8080").refusal(),
        "server.listen (from --listen) must be an address and port such as 127.0.0.1:8080, not \":8080\"."
    );
    refused(
        "mail.port = 70000",
        "mail.port (from FILE) must be a whole number from 1 to 65535, not 70000.",
    );
    refused(
        "mail.port = '25'",
        "mail.port (from FILE) must be a whole number from 1 to 65535, not \"25\".",
    );
    refused_variable(
        "WAKEFUL_SIGNUP_OPEN",
        "yes",
        "signup.open (from WAKEFUL_SIGNUP_OPEN) must be true or false, not \"yes\".",
    );
    refused(
        "sessions = { idle_days = 60, max_days = 45 }",
        "sessions.idle_days (from FILE) must be a whole number from 1 to 45, not 60.",
    );
}

#[test]
fn almost_valid_values_are_rejected() {
    for wrong in [
        "data = ''",
        "server.public_url = 'https://up.example.com/'",
        "server.public_url = 'https:up.example.com'",
        "server.public_url = 'https://u:p@up.example.com'",
        "server.public_url = 'ftp://up.example.com'",
        "server.public_url = 'https://up.example.com?x=1'",
        "server.cors_origins = ['https://up.example.com/page']",
        "server.cors_origins = ['*']",
        "server.cors_origins = 'https://up.example.com'",
        "server.trusted_proxies = ['10.0.0.0/33']",
        "server.trusted_proxies = [10]",
        "server.metrics_token = 'a b'",
        "server.body_limit = 0",
        "database.url = 'mysql://u:p@h/d'",
        "database.url = 'wakeful.db'",
        "database.url = 'sqlite:'",
        "database.url = 'sqlite::memory:'",
        "database.max_connections = -1",
        "nats.url = 'http://h:4222'",
        "nats.url = 'nats://a:4222,b:4222'",
        "nats.creds = 3",
        "nats.tls_key = '/etc/key.pem'",
        "secrets.master_key = 'c2hvcnQ='",
        "mail.host = 'mail.example.com:25'",
        "mail.host = 'smtp://mail'",
        "mail.security = 'TLS'",
        "mail.from = 'Wakeful'",
        "mail.from = 'a@b.example>, <c@d.example'",
        "mail.contact_to = 'nobody'",
        "network.egress = []",
        "network.egress = 'all'",
        "network.egress = ['private']",
    ] {
        let (key, _) = wrong.split_once(" = ").expect("an assignment");
        let refusal = start().file(wrong).refusal();
        assert!(refusal.starts_with(&format!("{key} (from FILE) must be ")), "{wrong}: {refusal}");
        assert!(refusal.ends_with('.') && !refusal.contains('\n'), "{refusal}");
    }
}

#[test]
fn every_setting_is_read_and_rejects_a_wrong_type() {
    for (key, _) in defaults() {
        let refusal = start().file(&format!("{key} = 2026-11-15")).refusal();
        assert!(refusal.starts_with(&format!("{key} (from FILE) must be ")), "{key}: {refusal}");
    }
}

#[test]
fn every_problem_is_reported_at_once() {
    let refusal = start()
        .file("mail.port = 0\nserver.docs = 1\nnonsense = 1")
        .variable("WAKEFUL_NONSENSE", "1")
        .refusal();
    assert_eq!(refusal.lines().count(), 4, "{refusal}");
}

#[test]
fn an_error_names_a_file_that_cannot_be_read_or_parsed() {
    let mut missing = start();
    missing.flags.config = Some("/nowhere/wakeful.toml".to_owned());
    let why = missing.load().expect_err("refused").to_string();
    assert!(
        why.starts_with("The settings file /nowhere/wakeful.toml (from --config) cannot be read: "),
        "{why}"
    );
    let why = start().file("data = 'x'\n[mail]\npassword = hunter2\n").refusal();
    assert!(why.starts_with("The settings file FILE is not valid TOML at line 3: "), "{why}");
}

#[test]
fn an_error_names_a_variable_that_is_not_text() {
    let variables = [(OsString::from("WAKEFUL_DATA"), OsString::from_vec(vec![0xff]))];
    let why = Settings::load(&Flags::default(), variables).expect_err("refused").to_string();
    assert_eq!(why, "WAKEFUL_DATA must be UTF-8 text.");
}

#[test]
fn no_secret_is_in_the_report_or_in_debug_output() {
    let settings = start()
        .file(&format!(
            "server.metrics_token = 'hunter2'
             database.url = 'postgres://ann:hunter2@db:5433/wakeful?password=hunter2'
             nats.url = 'nats://hunter2@a,tls://x:hunter2@b:4223'
             nats.password = 'hunter2'
             nats.token = 'hunter2'
             nats.nkey = 'hunter2'
             secrets.master_key = '{BASE64_KEY}'
             mail.password = 'hunter2'
             checks.proxy = 'socks5://ann:hunter2@10.0.0.1:1080'"
        ))
        .settings();
    let report = settings.report();
    for text in [report, &format!("{settings:?}")] {
        assert!(!text.contains("hunter2") && !text.contains(BASE64_KEY), "{text}");
    }
    assert!(report.contains("mail.password = (set)"), "{report}");
    assert!(report.contains("checks.proxy = (set)"), "{report}");
    assert!(report.contains("database.url = \"postgres://…@db:5433/wakeful?…\""), "{report}");
    assert!(report.contains("nats.url = \"nats://…@a,tls://…@b:4223\""), "{report}");
}

#[test]
fn administrators_see_every_setting_with_its_source_and_no_secret() {
    const SENTINEL: &str = "Sentinel-77aa1c";
    let settings = start()
        .file(&format!("mail.password = '{SENTINEL}'\nmail.host = 'mail.example.com'"))
        .variable("WAKEFUL_NATS_TOKEN", SENTINEL)
        .settings();
    let effective = settings.effective();
    let keys: Vec<String> = effective.iter().map(|setting| setting.key.clone()).collect();
    assert_eq!(keys, defaults().into_iter().map(|(key, _)| key).collect::<Vec<_>>());
    let find = |key: &str| effective.iter().find(|setting| setting.key == key).expect("a setting");
    let of = |key: &str| (find(key).value.as_str(), find(key).source.as_str());
    assert_eq!(of("mail.host"), ("\"mail.example.com\"", "file"));
    assert_eq!(of("mail.password"), ("(set)", "file"));
    assert_eq!(of("nats.token"), ("(set)", "environment"));
    assert_eq!(find("nats.token").origin, "WAKEFUL_NATS_TOKEN");
    assert_eq!(of("mail.port"), ("587", "default"));
    assert_eq!(of("network.egress").1, "derived");
    assert!(!format!("{effective:?}").contains(SENTINEL));
    // Every setting that is named like a secret is hidden, and every password in a URL.
    let public = ["billing.stripe_publishable_key", "nats.tls_key"];
    for (key, _) in defaults() {
        let last = key.rsplit(['.', '_']).next().expect("a name");
        let secret = ["key", "nkey", "password", "token", "secret"].contains(&last);
        if secret && !public.contains(&key.as_str()) {
            let shown = reader::shown(&key, &SENTINEL.into());
            assert_eq!(shown, "(set)", "{key}");
        }
        let url = format!("https://ann:{SENTINEL}@example.com/?token={SENTINEL}");
        assert!(!reader::shown(&key, &url.into()).contains(SENTINEL), "{key}");
    }
}

#[test]
fn no_secret_is_in_an_error() {
    for wrong in [
        "server.metrics_token = 'hunter2 hunter2'",
        "server.metrics_token = ['hunter2']",
        "database.url = 'mysql://ann:hunter2@db'",
        "database.url = ['postgres://ann:hunter2@db']",
        "nats.url = 'hunter2@h'",
        "secrets.master_key = 'hunter2'",
        "mail.password = ['hunter2']",
        "checks.proxy = 'https://ann:hunter2@proxy.example'",
        "mail.pasword = 'hunter2'",
        "mail.password = hunter2",
        "mail.password = 'hunter2",
        "mail.password = \"hunter2\\q\"",
        "mail.password = \"x\" hunter2",
        "mail.password = 'x'\nmail.password = 'hunter2'",
    ] {
        let refused = start().file(wrong).load().expect_err(wrong);
        assert!(!format!("{refused} {refused:?}").contains("hunter2"), "{wrong}: {refused:?}");
    }
}

#[test]
fn the_report_shows_the_origin_of_each_setting() {
    let start = start()
        .file("mail.port = 25")
        .variable("WAKEFUL_MAIL_HOST", "mail.example.com")
        .listen("127.0.0.1:9");
    let settings = start.settings();
    let path = start.flags.config.as_deref().expect("a path");
    let line = |key: &str| {
        let line = settings.report().lines().find(|line| line.starts_with(&format!("{key} = ")));
        line.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).expect(key)
    };
    assert_eq!(line("data"), "data = \"./data\" # default");
    assert_eq!(line("mail.port"), format!("mail.port = 25 # from {path}"));
    assert_eq!(line("mail.host"), "mail.host = \"mail.example.com\" # from WAKEFUL_MAIL_HOST");
    assert_eq!(line("server.listen"), "server.listen = \"127.0.0.1:9\" # from --listen");
    assert_eq!(settings.report().lines().count(), defaults().len());
}

#[test]
fn with_open_sign_up_egress_is_public_by_default() {
    let egress = |start: &Start| start.settings().network.egress;
    let open = start().listen("0.0.0.0:8080");
    assert_eq!(egress(&open), Egress::Public);
    assert!(open.settings().report().contains("network.egress = \"public\""));
    assert!(open.settings().report().contains("# because sign-up is open"));
    assert_eq!(egress(&start().listen("[::1]:8080")), Egress::Private);
    let closed = start().listen("0.0.0.0:8080").variable("WAKEFUL_SIGNUP_OPEN", "false");
    assert_eq!(egress(&closed), Egress::Private);
    let chosen = open.variable("WAKEFUL_NETWORK_EGRESS", "private");
    assert_eq!(egress(&chosen), Egress::Private);
}

#[test]
fn behind_a_proxy_egress_is_public_by_default() {
    for (variable, value, expected, why) in [
        ("PUBLIC_URL", "https://wakeful.example.com", Egress::Public, "server.public_url"),
        ("PUBLIC_URL", "http://192.168.1.2:8080", Egress::Public, "server.public_url"),
        ("PUBLIC_URL", "http://localhost.example.com", Egress::Public, "server.public_url"),
        ("TRUSTED_PROXIES", "127.0.0.1", Egress::Public, "server.trusted_proxies"),
        ("PUBLIC_URL", "http://localhost:8080", Egress::Private, "the listener is loopback"),
        ("PUBLIC_URL", "http://wakeful.localhost", Egress::Private, "the listener is loopback"),
        ("PUBLIC_URL", "http://127.0.0.1:8080", Egress::Private, "the listener is loopback"),
        ("PUBLIC_URL", "http://[::1]:8080", Egress::Private, "the listener is loopback"),
    ] {
        for signup in ["true", "false"] {
            let start = start()
                .variable(&format!("WAKEFUL_SERVER_{variable}"), value)
                .variable("WAKEFUL_SIGNUP_OPEN", signup);
            let network = start.settings().network;
            assert_eq!(network.egress, expected, "{variable} {value}");
            let reason = &network.egress_reason;
            assert!(reason.starts_with(&format!("because {why}")), "{value}: {reason}");
            let chosen = start.variable("WAKEFUL_NETWORK_EGRESS", "private").settings().network;
            assert_eq!(chosen.egress, Egress::Private, "{variable} {value}");
            assert_eq!(chosen.egress_reason, "from WAKEFUL_NETWORK_EGRESS");
        }
    }
}

#[test]
fn domains_are_verified_by_default_where_strangers_can_sign_up() {
    let verified = |start: &Start| start.settings().statuspages.verify_domains;
    let open = start().listen("0.0.0.0:8080");
    assert!(verified(&open));
    let line = "statuspages.verify_domains = true";
    let shown = open.settings().report().lines().any(|one| {
        one.starts_with(line)
            && one.ends_with("# because sign-up is open to people on other machines")
    });
    assert!(shown, "{}", open.settings().report());
    assert!(!verified(&open.variable("WAKEFUL_STATUSPAGES_VERIFY_DOMAINS", "false")));
    assert!(verified(
        &start().variable("WAKEFUL_SERVER_PUBLIC_URL", "https://wakeful.example.com")
    ));
    assert!(verified(&start().variable("WAKEFUL_SERVER_TRUSTED_PROXIES", "127.0.0.1")));
    let private = start().listen("0.0.0.0:8080").variable("WAKEFUL_NETWORK_EGRESS", "private");
    assert!(verified(&private));
    assert!(!verified(&start().listen("127.0.0.1:8080")));
    let closed = start().listen("0.0.0.0:8080").variable("WAKEFUL_SIGNUP_MODE", "invite");
    assert!(!verified(&closed));
    assert!(verified(&closed.file("statuspages.verify_domains = true")));
    for wrong in ["yes", "1", "[]"] {
        assert!(
            start().variable("WAKEFUL_STATUSPAGES_VERIFY_DOMAINS", wrong).load().is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn an_edited_default_file_still_derives_the_egress_mode() {
    let edited = super::DEFAULT_TOML
        .replace("public_url = \"\"", "public_url = \"https://wakeful.example.com\"");
    assert_ne!(edited, super::DEFAULT_TOML);
    assert_eq!(start().file(&edited).settings().network.egress, Egress::Public);
}

#[test]
fn sentinels_are_hosts_with_ports() {
    let file = "checks.sentinels = [\"192.168.1.1:443\", \"[2001:db8::1]:53\", \"gw.example:80\"]";
    let expected = [("192.168.1.1", 443), ("2001:db8::1", 53), ("gw.example", 80)];
    let expected: Vec<(String, u16)> = expected.map(|(host, port)| (host.into(), port)).into();
    assert_eq!(start().file(file).settings().checks.sentinels, expected);
    for wrong in ["192.168.1.1", "[::1]", "::1:80", "host:0", "host:x", ":80", "a b:80"] {
        assert!(start().variable("WAKEFUL_CHECKS_SENTINELS", wrong).load().is_err(), "{wrong}");
    }
}

#[test]
fn a_secret_key_is_not_accepted_as_the_publishable_one() {
    let name = "WAKEFUL_BILLING_STRIPE_PUBLISHABLE_KEY";
    let given = start().variable(name, " pk_live_1 ").settings().billing.stripe_publishable_key;
    assert_eq!(given.as_deref(), Some("pk_live_1"));
    assert_eq!(start().settings().billing.stripe_publishable_key, None);
    let sentence = "billing.stripe_publishable_key (from WAKEFUL_BILLING_STRIPE_PUBLISHABLE_KEY) must be the publishable key of the Stripe account, which begins with pk_, or empty.";
    refused_variable(name, "sk_live_1", sentence);
}
