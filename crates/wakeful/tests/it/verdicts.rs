//! The verdict matrix: each row is a fault of a target, or of our own network, with the status
//! and the reason that it must result in. All rows run at one time against the real binary, in a
//! network namespace of their own with name servers, routes and an authority of the test.

mod jobs;
mod lossy_echo;
mod peers;
mod regions;
mod requests;
mod speed;

use serde_json::{Value, json};
use sqlx::Connection as _;
use std::os::unix::fs::MetadataExt as _;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::Instant;
use wakeful_testkit::{Client, DatabaseKind, Hook, Receiver, SignedZones, User, until};

use crate::process::Installation;
use lossy_echo::LOSSY;
use peers::Peers;
use regions::Probes;

const INSIDE: &str = "WAKEFUL_TEST_INSIDE_NAMESPACE";
const DATABASE: &str = "WAKEFUL_TEST_POSTGRES";
/// Seconds. A check has as much time as its interval.
const INTERVAL: u64 = 2;
const MAX_DELAY: Duration = Duration::from_secs(INTERVAL + INTERVAL + 2);
/// How many checks of most monitors there are before their notifications are counted.
const CHECKS: usize = 3;
const CHANGED: &str = "page changed";
const TENTH: &str = "every tenth request fails";
const HOSTILE: &str = "a megabyte of brackets";
/// How long a check of it may take, the call included.
const MAX_HOSTILE: Duration = Duration::from_secs(1);
const FINGERPRINT: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Up,
    Down(&'static str),
    Degraded(&'static str),
    Unknown,
}
use Verdict::{Degraded, Down, Unknown, Up};

struct Row {
    name: &'static str,
    /// The fields of the monitor that differ from the usual ones.
    monitor: Value,
    verdict: Verdict,
    /// The notifications before the one that reports the verdict.
    before: &'static [&'static str],
    /// A notification that is sent before or after the others.
    warning: Option<&'static str>,
    /// How many checks there are before the one that the verdict follows from.
    late: u64,
}

fn row(name: &'static str, monitor: Value, verdict: Verdict) -> Row {
    // By default, three of five checks must be affected.
    let late = if matches!(verdict, Degraded(_)) { 2 } else { 0 };
    Row { name, monitor, verdict, before: &[], warning: None, late }
}

impl Row {
    /// The same after other notifications, and after so many checks.
    fn after(self, before: &'static [&'static str], late: u64) -> Self {
        Self { before, late, ..self }
    }

    /// The same with a warning.
    fn with_warning(self, warning: &'static str) -> Self {
        Self { warning: Some(warning), ..self }
    }

    /// The types of all notifications but the warning, in order.
    fn events(&self) -> Vec<&'static str> {
        let last = match self.verdict {
            Up | Unknown => None,
            Down(_) => Some("monitor.down"),
            Degraded(_) => Some("monitor.degraded"),
        };
        self.before.iter().copied().chain(last).collect()
    }

    fn notifications(&self) -> usize {
        self.events().len() + usize::from(self.warning.is_some())
    }

    /// How many checks there are before its notifications are counted.
    fn checks(&self) -> usize {
        match self.monitor["type"].as_str() {
            Some("api") => 0,
            // Its interval is an hour.
            Some("domain") => 1,
            _ => CHECKS,
        }
    }

    fn is_job(&self) -> bool {
        self.monitor["type"] == "api"
    }
}

/// A monitor of a URL.
fn http(url: impl AsRef<str>) -> Value {
    json!({"type": "http", "http": {"url": url.as_ref()}})
}

/// The same with one assertion.
#[expect(clippy::needless_pass_by_value, reason = "the rows of the table are shorter")]
fn asserting(url: impl AsRef<str>, assertion: Value) -> Value {
    json!({"type": "http", "http": {"url": url.as_ref()}, "assertions": [assertion]})
}

fn tcp(hostname: &str, port: u16) -> Value {
    json!({"type": "tcp", "hostname": hostname, "port": port})
}

/// A monitor with more fields.
#[expect(clippy::needless_pass_by_value, reason = "the rows of the table are shorter")]
fn with(mut monitor: Value, more: Value) -> Value {
    monitor.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    monitor
}

/// The query of the address of a name.
#[expect(clippy::needless_pass_by_value, reason = "the rows of the table are shorter")]
fn dns(hostname: &str, assertions: Value) -> Value {
    json!({"type": "dns", "hostname": hostname, "assertions": assertions,
        "dns": {"resolver_server": "127.0.0.1", "record_type": "A"}})
}

fn dns_rows(peers: &Peers) -> Vec<Row> {
    let at = |name: &str| http(format!("http://{name}:{}/ok", peers.http.port));
    let none = || json!([]);
    let other = json!([{"source": "record", "comparison": "equals", "target": "192.0.2.7"}]);
    let authenticated = || {
        json!([{"source": "dnssec", "property": "authenticated", "comparison": "equals",
            "target": "true"}])
    };
    let verifying = format!("127.0.0.1:{}", peers.zones.resolver.port);
    let verified = |name: &str| {
        let query = json!({"resolver_server": verifying, "record_type": "A"});
        with(dns(name, authenticated()), json!({"dns": query}))
    };
    let expected = json!([{"source": "code", "comparison": "equals", "target": "NXDOMAIN"}]);
    vec![
        row("NXDOMAIN", at("nxdomain.test"), Down("dns_nxdomain")),
        row("NXDOMAIN, queried", dns("nxdomain.test", none()), Down("dns_nxdomain")),
        row("NXDOMAIN, expected", dns("nxdomain.test", expected), Up),
        row("SERVFAIL", at("servfail.test"), Down("dns_servfail")),
        row("SERVFAIL, queried", dns("servfail.test", none()), Down("dns_servfail")),
        row("REFUSED", at("refused.test"), Down("dns_refused")),
        row("REFUSED, queried", dns("refused.test", none()), Down("dns_refused")),
        row("no address", at("no-address.test"), Down("dns_no_address")),
        row("no record", dns("no-address.test", none()), Down("dns_no_records")),
        row("dangling alias", at("dangling.test"), Down("dns_nxdomain")),
        row("loop of aliases", at("loop.test"), Down("dns_servfail")),
        row("own resolver silent", at("silent.test"), Unknown),
        row(
            "slow answer",
            with(dns("slow.test", none()), json!({"degraded": {"slow": 300}})),
            Degraded("slow"),
        ),
        row("wrong answer", dns("good.test", other), Down("dns_answer")),
        row("not authenticated", dns("good.test", authenticated()), Down("dnssec")),
        row("valid signature", verified(SignedZones::SIGNED), Up),
        row("bogus signature", verified(SignedZones::FORGED), Down("dnssec")),
        row("one of two name servers silent", at("half.test"), Up),
    ]
}

fn network_rows(peers: &Peers) -> Vec<Row> {
    let at = |name: &str| http(format!("http://{name}:{}/ok", peers.http.port));
    vec![
        row("connected", tcp("127.0.0.1", peers.http.port), Up),
        row("refused", tcp("127.0.0.1", peers.closed_port), Down("connect_refused")),
        row(
            "reset in the handshake",
            http(format!("https://good.test:{}/", peers.resetting.port)),
            Down("connect_reset"),
        ),
        row("packets dropped", tcp("192.0.2.1", 80), Down("connect_timeout")),
        row("IPv6 dead", at("dead-v6.test"), Up),
        row("one of two addresses dead", at("two.test"), Up),
        row("no route", tcp("198.51.100.1", 80), Down("unreachable")),
        row("denied by the guard", at("metadata.test"), Unknown),
        row("no echo", json!({"type": "ping", "hostname": "192.0.2.2"}), Down("no_reply")),
        row("echo", json!({"type": "ping", "hostname": "127.0.0.1"}), Up),
        row(
            "two of five echoes lost",
            json!({"type": "ping", "hostname": LOSSY, "ping": {"count": 5, "spacing": 20},
                "assertions": [{"source": "loss", "comparison": "at_most", "target": 20,
                    "fails_as": "degraded"}]}),
            Degraded("packet_loss"),
        )
        // It waits a second for each lost echo, and then skips a check.
        .after(&[], 5),
    ]
}

fn tls_rows(peers: &Peers) -> Vec<Row> {
    let at = |name: &str| http(format!("https://{name}:{}/", peers.https.port));
    let raw = |port: u16| http(format!("https://good.test:{port}/"));
    let mutual = format!("https://mutual.test:{}/", peers.for_clients_with_certificate.port);
    let good = format!("https://good.test:{}/", peers.https.port);
    let pinned = json!({"source": "certificate", "property": "fingerprint",
        "comparison": "equals", "target": FINGERPRINT});
    let expiring = |fails_as: &str| {
        json!({"source": "certificate", "property": "days_left",
        "comparison": "at_least", "target": 100_000, "fails_as": fails_as})
    };
    vec![
        row("trusted", at("good.test"), Up),
        row("expired", at("expired.test"), Down("tls_expired")),
        row("not yet valid", at("future.test"), Down("tls_not_yet_valid")),
        row("wrong name", at("wrong.test"), Down("tls_name")),
        row("self-signed", at("own.test"), Down("tls_self_signed")),
        row("incomplete chain", at("incomplete.test"), Down("tls_untrusted")),
        row("TLS 1.0 only", raw(peers.old_tls.port), Down("tls_version")),
        row("handshake stalls", raw(peers.stalling.port), Down("tls_timeout")),
        row("plaintext", raw(peers.plaintext.port), Down("tls_handshake")),
        row("client certificate required", http(mutual), Down("tls_client_certificate")),
        row(
            "certificate expiring",
            asserting(&good, expiring("down")),
            Down("certificate_expiring"),
        ),
        row(
            "certificate expiring, degraded",
            asserting(&good, expiring("degraded")),
            Degraded("certificate_expiring"),
        ),
        row("fingerprint changed", asserting(&good, pinned), Down("certificate_changed")),
    ]
}

fn http_rows(peers: &Peers) -> Vec<Row> {
    let port = peers.http.port;
    let url = |path: &str| format!("http://127.0.0.1:{port}/{path}");
    let at = |path: &str| http(url(path));
    let stays = json!({"source": "final_url", "comparison": "starts_with",
        "target": format!("http://127.0.0.1:{port}/")});
    let version = json!({"source": "http_version", "comparison": "equals", "target": "2"});
    let downgrade = format!("https://good.test:{}/downgrade", peers.https.port);
    vec![
        row("500", at("status/500"), Down("http_status")),
        row("502", at("status/502"), Down("http_status")),
        row("503", at("status/503"), Down("http_status")),
        row("504", at("status/504"), Down("http_status")),
        row("404", at("status/404"), Down("http_status")),
        row("403 of a firewall", at("status/403"), Down("http_status")),
        row("429", at("status/429"), Down("http_status")),
        row("silent", at("silent"), Down("timeout_first_byte")),
        row("drips", at("drip"), Down("timeout_body")),
        row("cut short", at("cut"), Down("http_incomplete")),
        row("two lengths", at("lengths"), Down("http_invalid")),
        row("garbage", at("garbage"), Down("http_invalid")),
        row("redirect loop", at("loop"), Down("http_redirects")),
        row("11 hops", at("hop/0"), Down("http_redirects")),
        row("10 hops", at("hop/1"), Up),
        row("another host", asserting(url(&format!("away/{port}")), stays), Down("assertion")),
        row("https to http", http(downgrade), Up),
        row("HEAD 405, GET 200", at("no-head"), Up),
        row("GET 503, HEAD 200", at("no-get"), Down("http_status")),
        row("HTTP/1.1 instead of 2", asserting(url("ok"), version), Down("http_version")),
    ]
}

fn content_rows(peers: &Peers) -> Vec<Row> {
    let url = |path: &str| format!("http://127.0.0.1:{}/{path}", peers.http.port);
    let down = |name, path: &str, assertion: Value| {
        row(name, asserting(url(path), assertion), Down("assertion"))
    };
    let keyword = |path: &str| json!({"type": "http_keyword", "http": {"url": url(path), "keyword": "Welcome"}});
    vec![
        down(
            "empty body",
            "empty",
            json!({"source": "body_size", "comparison": "greater_than", "target": 0}),
        ),
        down(
            "error page with 200",
            "error",
            json!({"source": "body", "comparison": "not_contains", "target": "error"}),
        ),
        row("keyword there", keyword("ok"), Up),
        row("defaced", keyword("defaced"), Down("keyword")),
        down(
            "script injected",
            "script",
            json!({"source": "body", "comparison": "not_matches", "target": "(?i)<script"}),
        ),
        down(
            "HTML instead of JSON",
            "ok",
            json!({"source": "json", "property": "$.ok", "comparison": "equals", "target": true}),
        ),
        row(
            "number over the limit",
            asserting(
                url("queue"),
                json!({"source": "json", "property": "$.queue.depth", "comparison": "less_than",
                    "target": 1_000, "fails_as": "degraded"}),
            ),
            Degraded("assertion"),
        ),
        down(
            "header missing",
            "ok",
            json!({"source": "header", "property": "strict-transport-security",
                "comparison": "exists"}),
        ),
        down(
            HOSTILE,
            "hostile",
            json!({"source": "json", "property": "$..a", "comparison": "exists"}),
        ),
    ]
}

/// The rows whose page depends on how often it was requested. The one that changes does so after the
/// first check: one heartbeat is degraded, and one message is sent.
fn counted_rows(peers: &Peers, run: usize) -> Vec<Row> {
    let url = |page: &str| format!("http://127.0.0.1:{}/{page}/{run}", peers.http.port);
    let unchanged = json!({"source": "body", "comparison": "unchanged"});
    vec![
        row(CHANGED, asserting(url("changing"), unchanged), Up).after(&["monitor.changed"], 1),
        row(TENTH, with(http(url("tenth")), json!({"retries": 1, "retry_interval": 1})), Up),
    ]
}

/// A monitor that was saved.
struct Saved {
    row: Row,
    id: String,
    ping_url: String,
    at: Instant,
}

/// The service with the rows of one run.
struct Matrix<'a> {
    client: &'a Client,
    receiver: Receiver,
    notifier: Value,
    saved: Vec<Saved>,
}

impl<'a> Matrix<'a> {
    async fn start(client: &'a Client) -> Self {
        let receiver = Receiver::start().await;
        let body = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
        let notifier = client.post("notifier/save", &body).await.json()["notifierid"].clone();
        Self { client, receiver, notifier, saved: Vec::new() }
    }

    async fn save(&mut self, rows: Vec<Row>) {
        for row in rows {
            let body = json!({"name": row.name, "heartbeat_interval": INTERVAL,
                "timeout": INTERVAL, "isactive": true, "upside_down_mode": false, "retries": 0,
                "notifiers": self.notifier});
            let at = Instant::now();
            let saved = self.client.post("monitor/save", &with(body, row.monitor.clone())).await;
            let monitor = saved.ok()["monitor"].clone();
            let id = monitor["monitorid"].as_str().unwrap().to_owned();
            let ping_url = monitor["ping_url"].as_str().unwrap_or_default().to_owned();
            self.saved.push(Saved { row, id, ping_url, at });
        }
    }

    fn named(&self, name: &str) -> &Saved {
        self.saved.iter().find(|saved| saved.row.name == name).unwrap()
    }

    async fn delete_all(&self) {
        for saved in &self.saved {
            self.client.delete(&format!("monitor/{}/delete", saved.id)).await.ok();
        }
    }

    async fn heartbeats(&self, saved: &Saved) -> Vec<Value> {
        let page = self.client.get(&format!("monitor/{}/heartbeats", saved.id)).await.ok();
        page["heartbeats"].as_array().unwrap().clone()
    }

    /// The notifications about a monitor.
    fn hooks(&self, saved: &Saved) -> Vec<Hook> {
        let mut hooks = self.receiver.hooks();
        hooks.retain(|hook| hook.json()["data"]["monitor"]["monitorid"] == saved.id.as_str());
        hooks
    }

    /// Waits until each row has been checked a few times and notified, if it must be.
    async fn wait(&self) {
        for saved in &self.saved {
            until(&format!("the checks of {}", saved.row.name), || async {
                let is_notified = self.hooks(saved).len() >= saved.row.notifications();
                let is_checked = self.heartbeats(saved).await.len() >= saved.row.checks();
                (is_notified && is_checked).then_some(())
            })
            .await;
        }
    }

    /// What is wrong with each row.
    async fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for saved in &self.saved {
            let wrong = match saved.row.verdict {
                Down(reason) => self.wrong_alert(saved, "down", reason).await,
                Degraded(reason) => self.wrong_alert(saved, "degraded", reason).await,
                Up => self.wrong_calm(saved, "up", "up").await,
                Unknown => self.wrong_calm(saved, "pending", "unknown").await,
            };
            mistakes.extend(wrong.map(|wrong| format!("{}: {wrong}", saved.row.name)));
        }
        mistakes
    }

    async fn monitor(&self, saved: &Saved) -> Value {
        self.client.get(&format!("monitor/{}/get", saved.id)).await.ok()["monitor"].clone()
    }

    /// The row must have this health for this reason, with its notifications in time and its
    /// evidence.
    async fn wrong_alert(&self, saved: &Saved, health: &str, reason: &str) -> Option<String> {
        let monitor = self.monitor(saved).await;
        let mut hooks = self.hooks(saved);
        let warning = saved.row.warning.and_then(|warning| {
            let place = hooks.iter().position(|hook| hook.json()["type"] == warning)?;
            Some(hooks.remove(place))
        });
        let events: Vec<Value> = hooks.iter().map(Hook::json).collect();
        let types: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
        if types != saved.row.events() || warning.is_none() != saved.row.warning.is_none() {
            return Some(format!("{types:?}; {}", monitor["last_message"]));
        }
        let event = &events[events.len() - 1];
        let delay = hooks[hooks.len() - 1].at - saved.at;
        let alert = event["data"]["alertid"].as_str().unwrap_or_default();
        let alert = self.client.get(&format!("alert/{alert}/get")).await.ok();
        let mut reasons =
            vec![&event["data"]["reason"], &monitor["reason"], &alert["alert"]["reason"]];
        if !saved.row.is_job() {
            reasons.push(&alert["evidence"][0]["reason"]);
        }
        let is_right = monitor["health"] == health
            && monitor["status"] == if health == "down" { "down" } else { "up" }
            && reasons.iter().all(|found| **found == reason)
            && delay <= MAX_DELAY + Duration::from_secs(saved.row.late * INTERVAL);
        (!is_right).then(|| format!("{} {reasons:?} after {delay:?}: {event}", monitor["health"]))
    }

    /// The fastest of a few checks, because those of the other rows share the processors.
    async fn judges_hostile_bodies_in_time(&self) {
        let path = format!("monitor/{}/check", self.named(HOSTILE).id);
        let mut fastest = Duration::MAX;
        for _ in 0..3 {
            let began = Instant::now();
            let checked = self.client.post(&path, &json!({})).await.ok();
            fastest = fastest.min(began.elapsed());
            assert_eq!(checked["heartbeat"]["reason"], "assertion", "{checked}");
        }
        assert!(fastest <= MAX_HOSTILE, "{fastest:?}");
    }

    /// The row must not be notified, and its last check must have this result.
    async fn wrong_calm(&self, saved: &Saved, status: &str, beat: &str) -> Option<String> {
        let monitor = self.monitor(saved).await;
        let beats = self.heartbeats(saved).await;
        let is_right = monitor["status"] == status
            && monitor["health"] == status
            && self.hooks(saved).len() == saved.row.notifications()
            && beats.first().is_some_and(|last| last["status"] == beat);
        (!is_right).then(|| format!("{} {} {beats:?}", monitor["status"], monitor["health"]))
    }
}

/// `number` distinguishes this run from others.
async fn run(installation: &Installation, client: &Client, peers: &Peers, number: usize) {
    let mut matrix = Matrix::start(client).await;
    let neighbor = format!("http://good.test:{}/ok", peers.http.port);
    matrix.save(vec![row("healthy neighbor", http(neighbor), Up)]).await;
    matrix.save(speed::rows(peers, number)).await;
    speed::set_usual_times(installation, &matrix).await;
    for rows in
        [dns_rows, network_rows, tls_rows, http_rows, content_rows, regions::rows, requests::rows]
    {
        matrix.save(rows(peers)).await;
    }
    matrix.save(counted_rows(peers, number)).await;
    matrix.save(jobs::rows()).await;
    jobs::report(&matrix).await;
    matrix.wait().await;
    let mut mistakes = matrix.mistakes().await;
    mistakes.extend(jobs::mistakes(&matrix).await);
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let beats = matrix.heartbeats(matrix.named("healthy neighbor")).await;
    assert!(beats.iter().all(|beat| beat["status"] == "up"), "{beats:?}");
    let beats = matrix.heartbeats(matrix.named(TENTH)).await;
    assert!(beats.iter().any(|beat| beat["status"] == "down"), "{beats:?}");
    let noted = matrix.monitor(matrix.named("https to http")).await["last_message"].clone();
    assert_eq!(noted, "200 OK (redirected from https to http)");
    let changed = matrix.named(CHANGED);
    let event = matrix.hooks(changed)[0].json();
    assert_eq!(
        (&event["type"], &event["data"]["reason"]),
        (&json!("monitor.changed"), &json!("changed"))
    );
    let beats = matrix.heartbeats(changed).await;
    assert_eq!(beats.iter().filter(|beat| beat["health"] == "degraded").count(), 1, "{beats:?}");
    matrix.judges_hostile_bodies_in_time().await;
    matrix.delete_all().await;

    // The last row needs a network without a way out.
    let mut matrix = Matrix::start(client).await;
    ip("route del default").await;
    let hosts = ["192.0.2.11", "192.0.2.12", "192.0.2.13"];
    // The first of them have nothing to compare with, so each is tried more than once.
    let own_link_down =
        |host| row("own link down", with(tcp(host, 80), json!({"retries": 3})), Unknown);
    matrix.save(hosts.map(own_link_down).into()).await;
    matrix.wait().await;
    ip("route add default dev lo").await;
    let mistakes = matrix.mistakes().await;
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    matrix.delete_all().await;
}

async fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).output().await.unwrap();
    assert!(done.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&done.stderr));
}

async fn inside(kind: DatabaseKind, runs: usize) {
    let peers = Peers::start().await;
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("trusted.pem");
    std::fs::write(&trusted, peers.authority.pem()).unwrap();
    let installation = Installation::new(kind).await.without_limits();
    let installation = installation.variable("SSL_CERT_FILE", trusted.to_str().unwrap());
    let registries = folder.path().join("registries.json");
    std::fs::write(&registries, r#"{"services": []}"#).unwrap();
    let installation = installation.set("CHECKS_RDAP_BOOTSTRAP", registries.to_str().unwrap());
    let (installation, nats) = regions::connected(installation).await;
    let server = installation.serve().await;
    let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
    let _probes = Probes::start(&installation, &nats, &ann.client, peers.site.as_ref()).await;
    for number in 0..runs {
        run(&installation, &ann.client, &peers, number).await;
    }
    server.stop().await;
}

/// The test runs itself again in a namespace of its own, in which its name servers are those of
/// the system. Everything else that is not on loopback is silent or unreachable there. What is sent
/// over IPv6 leaves by a cable that nobody listens to, unless the machine has no IPv6.
async fn in_namespace(kind: DatabaseKind, test: &str, runs: usize) {
    if std::env::var_os(INSIDE).is_some() {
        return inside(kind, runs).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let resolv_conf = folder.path().join("resolv.conf");
    std::fs::write(&resolv_conf, "nameserver 127.0.0.1\nnameserver 127.0.0.2\n").unwrap();
    let script = "ip link set lo up && ip route add default dev lo && \
        ip route add unreachable 198.51.100.0/24 && \
        ip link add cable type veth peer name far && ip link set cable up && ip link set far up && \
        { ip -6 addr add 2001:db8::2/64 dev cable nodad 2>/dev/null && \
          ip -6 neigh add 2001:db8::1 lladdr 02:00:00:00:00:01 dev cable || true; } && \
        mount --bind \"$1\" /etc/resolv.conf && \
        exec \"$0\" --exact \"$2\" --include-ignored --nocapture";
    let mut command = Command::new("unshare");
    command.args(["--net", "--mount"]);
    if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
        command.arg("--map-root-user");
    }
    command.args(["sh", "-c", script]);
    command.arg(std::env::current_exe().unwrap()).arg(&resolv_conf).arg(test);
    command.env(INSIDE, "1").kill_on_drop(true);
    if kind == DatabaseKind::Postgres {
        command.env(DATABASE, url_by_socket().await);
    }
    let inner = command.output().await.expect("unshare is part of util-linux");
    let stdout = String::from_utf8_lossy(&inner.stdout);
    let stderr = String::from_utf8_lossy(&inner.stderr);
    assert!(inner.status.success() && stdout.contains("1 passed"), "{stdout}{stderr}");
}

/// The URL of the PostgreSQL server by its Unix socket, which other network namespaces reach.
async fn url_by_socket() -> String {
    let url = std::env::var(DATABASE).expect("run the test under scripts/with-postgres");
    let mut db = sqlx::PgConnection::connect(&url).await.unwrap();
    let folder: String =
        sqlx::query_scalar("show unix_socket_directories").fetch_one(&mut db).await.unwrap();
    let (user, rest) = url.split_once('@').unwrap();
    let (_, rest) = rest.split_once(':').unwrap();
    format!("{user}@{}:{rest}", folder.replace('/', "%2F"))
}

/// The tests of the given databases, each with so many runs.
macro_rules! matrix {
    ($($(#[$meta:meta])* $name:ident: $kind:ident, $runs:literal;)+) => {$(
        $(#[$meta])*
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            let test = concat!("verdicts::", stringify!($name));
            in_namespace(DatabaseKind::$kind, test, $runs).await;
        }
    )+};
}

matrix! {
    each_fault_has_its_verdict_on_sqlite: Sqlite, 1;
    each_fault_has_its_verdict_on_postgres: Postgres, 1;
    #[ignore = "takes most of a minute"]
    each_fault_has_its_verdict_three_times_on_sqlite: Sqlite, 3;
    #[ignore = "takes most of a minute"]
    each_fault_has_its_verdict_three_times_on_postgres: Postgres, 3;
}
