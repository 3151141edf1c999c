//! No secret is in the log at the most verbose level, nor in the database in plain text.
//! Every account endpoint is called, with success and with failure, and the secrets are
//! then searched for in every encoding that a library might use.

use data_encoding::{BASE32_NOPAD, BASE64, BASE64URL_NOPAD, HEXLOWER};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::task::JoinSet;
use wakeful_core::notifications::notifier::Kind;
use wakeful_testkit::fakes::{FakeService, SENTINEL, Trouble};
use wakeful_testkit::{Authority, Client, DatabaseKind, Receiver, User, until};

use crate::mail::token_in;
use crate::mfa::MfaUser;
use crate::process::{Installation, run_command, workspace};
use crate::smtp::MailServer;

const MAIL_PASSWORD: &str = "mail-Sentinel-4711";
const METRICS_TOKEN: &str = "metrics-Sentinel-4712";
const DATABASE_PASSWORD: &str = "database-Sentinel-4713";
const WRONG_PASSWORD: &str = "wrong-Sentinel-4714";
const WRONG_CODE: &str = "code-Sentinel-4715";
const NEW_PASSWORDS: [&str; 3] = ["new-Sentinel-4716", "new-Sentinel-4717", "new-Sentinel-4718"];
const TORN_PASSWORD: &str = "torn-Sentinel-4719";
const STREAM_PATH: &str = "stream-Sentinel-4720";

/// The secrets of monitors, in the order in which they are used.
const MONITOR_SECRETS: [(&str, &str); 7] = [
    ("a password of a monitor", "basic-Sentinel-4721"),
    ("a header of a monitor", "header-Sentinel-4722"),
    ("a token of a monitor", "bearer-Sentinel-4723"),
    ("a digest password of a monitor", "digest-Sentinel-4724"),
    ("a client secret", "client-Sentinel-4725"),
    ("a token that was issued to a monitor", "issued-Sentinel-4726"),
    ("the password of a proxy", "proxy-Sentinel-4727"),
];

const PING_BODY: &str = "ping-Sentinel-4728";

/// The minimum length of a secret in this test.
const BEGIN: usize = 8;

/// The secrets that must not be found, each with a name for the report.
#[derive(Default)]
pub(crate) struct Sentinels(Vec<(&'static str, String)>);

impl Sentinels {
    pub(crate) fn add(&mut self, name: &'static str, secret: &str) {
        assert!(secret.len() >= BEGIN, "{name} is too short to search for");
        self.0.push((name, secret.to_owned()));
    }

    /// The secrets that are in these bytes, as text or in a common encoding.
    pub(crate) fn found_in(&self, bytes: &[u8]) -> BTreeSet<&'static str> {
        // One pass over the bytes for all secrets, found by their first bytes.
        let mut begins: HashMap<[u8; BEGIN], Vec<(&'static str, Vec<u8>)>> = HashMap::new();
        for (name, secret) in &self.0 {
            for spelling in spellings(secret) {
                let begin = *spelling.first_chunk().unwrap();
                begins.entry(begin).or_default().push((name, spelling));
            }
        }
        let mut found = BTreeSet::new();
        for at in 0..bytes.len() {
            let rest = &bytes[at..];
            let known = rest.first_chunk().and_then(|begin| begins.get(begin));
            for (name, spelling) in known.into_iter().flatten() {
                if rest.starts_with(spelling) {
                    found.insert(*name);
                }
            }
        }
        found
    }
}

fn spellings(secret: &str) -> Vec<Vec<u8>> {
    let mut plain = vec![secret.as_bytes().to_vec()];
    // Tokens and TOTP secrets encode bytes, which might be stored raw.
    let (_, body) = secret.split_once('_').unwrap_or(("", secret));
    plain.extend(BASE64URL_NOPAD.decode(body.as_bytes()).ok().filter(|bytes| bytes.len() == 32));
    plain.extend(BASE32_NOPAD.decode(secret.as_bytes()).ok().filter(|bytes| bytes.len() == 20));
    let bare: String = secret.chars().filter(|c| *c != '-').collect();
    let is_code_or_uuid = |bytes: &Vec<u8>| [10, 16].contains(&bytes.len());
    plain.extend(HEXLOWER.decode(bare.as_bytes()).ok().filter(is_code_or_uuid));
    let encoded = |bytes: &Vec<u8>| {
        let base64 = BASE64.encode(bytes);
        let list = format!("{bytes:?}");
        [HEXLOWER.encode(bytes), base64, list.trim_matches(['[', ']']).to_owned()]
    };
    let more: Vec<Vec<u8>> = plain.iter().flat_map(encoded).map(String::into_bytes).collect();
    plain.into_iter().chain(more).collect()
}

fn text<'a>(json: &'a Value, field: &str) -> &'a str {
    json[field].as_str().unwrap()
}

/// Calls all account endpoints.
async fn call_everything(anonymous: &Client, mail_server: &mut MailServer) -> Sentinels {
    let mut secret = Sentinels::default();
    let mut ann = MfaUser::sign_up(anonymous, "ann@example.com").await;
    mail_server.mail().await;
    secret.add("the password", &ann.user.password);
    secret.add("the token of the sign-up", &ann.user.token);
    secret.add("the TOTP secret", &ann.secret);
    for code in &ann.recovery_codes {
        secret.add("a recovery code", code);
    }
    secret.add("the token of the login", text(&ann.log_in(anonymous).await, "token"));
    wrong_logins(anonymous, &mut secret).await;
    let with_code = json!({"username": "ann@example.com", "password": ann.user.password,
        "mfacode": ann.recovery_codes[0]});
    let answer = anonymous.post("authenticated", &with_code).await.ok();
    secret.add("the token of authenticated", text(&answer, "token"));
    keys(anonymous, &ann.user, &mut secret).await;
    let off = json!({"password": ann.user.password, "mfacode": ann.recovery_codes[1]});
    ann.user.client.post("mfa/disable", &off).await.ok();
    passwords(anonymous, &ann.user, mail_server, &mut secret).await;
    team_and_end(anonymous, &ann.user, &mut secret).await;
    secret
}

async fn wrong_logins(anonymous: &Client, secret: &mut Sentinels) {
    secret.add("a wrong password", WRONG_PASSWORD);
    secret.add("a wrong code", WRONG_CODE);
    secret.add("a password in a torn body", TORN_PASSWORD);
    let wrong = json!({"email": "ann@example.com", "password": WRONG_PASSWORD});
    anonymous.post("login", &wrong).await.refused(401, "bad_credentials");
    let wrong =
        json!({"email": "ann@example.com", "password": "correct horse 9", "mfacode": WRONG_CODE});
    anonymous.post("login", &wrong).await.refused(401, "mfa_invalid");
    let torn = format!("{{\"email\": \"ann@example.com\", \"password\": \"{TORN_PASSWORD}\"");
    let answer =
        anonymous.raw(reqwest::Method::POST, "login", Some("application/json"), torn).await;
    answer.refused(400, "malformed_json");
    let bearer = anonymous.with_token(WRONG_PASSWORD);
    bearer.get("users/me").await.refused(401, "not_authenticated");
    let pair = anonymous.with_keys(WRONG_PASSWORD, WRONG_CODE);
    pair.get("users/me").await.refused(401, "not_authenticated");
    anonymous
        .get(&format!("/api/v1/{WRONG_PASSWORD}?token={WRONG_CODE}"))
        .await
        .refused(404, "no_such_path");
}

async fn keys(anonymous: &Client, ann: &User, secret: &mut Sentinels) {
    let made = ann.client.post("integrations/apikey/save", &json!({"name": "ci"})).await.ok();
    let (apikey, enckey) = (text(&made, "apikey"), text(&made, "enckey"));
    secret.add("the API key", apikey);
    secret.add("the Enc key", enckey);
    let pair = anonymous.with_keys(apikey, enckey);
    secret.add("a key's token", text(&pair.get("authenticated").await.ok(), "token"));
    let body = json!({"apikey": apikey, "enckey": enckey});
    let traded = anonymous.post("authenticated", &body).await.ok();
    secret.add("a traded token", text(&traded, "token"));
    ann.client.get("integrations/apikeys").await.ok();
    let id = text(&made, "apikeyid");
    ann.client.delete(&format!("integrations/apikey/{id}/delete")).await.ok();
}

/// Every way to change a password.
async fn passwords(
    anonymous: &Client,
    ann: &User,
    mail_server: &mut MailServer,
    secret: &mut Sentinels,
) {
    NEW_PASSWORDS.iter().for_each(|new| secret.add("a new password", new));
    let [by_settings, by_mail, by_token] = NEW_PASSWORDS;
    let save = json!({"email": ann.email, "password1": by_settings, "password2": by_settings});
    ann.client.post("settings/save", &save).await.ok();
    let differ = json!({"email": ann.email, "password1": by_settings, "password2": WRONG_PASSWORD});
    assert_eq!(ann.client.post("settings/save", &differ).await.wrong_fields(), ["password2"]);
    anonymous.post("password/lost", &json!({"email": ann.email})).await.ok();
    let token = token_in(&mail_server.mail().await.body);
    secret.add("the reset token", &token);
    let update = |new: &str, token: &str| json!({"email": ann.email, "password1": new, "password2": new, "tokenid": token});
    anonymous.post("password/update", &update(by_mail, &token)).await.ok();
    anonymous.post("password/update", &update(by_mail, &token)).await.refused(401, "bad_token");
    let log_in = json!({"email": ann.email, "password": by_mail});
    let answer = anonymous.post("login", &log_in).await.ok();
    secret.add("a later token", text(&answer, "token"));
    anonymous.post("password/update", &update(by_token, text(&answer, "token"))).await.ok();
}

async fn team_and_end(anonymous: &Client, ann: &User, secret: &mut Sentinels) {
    let log_in = json!({"email": ann.email, "password": NEW_PASSWORDS[2]});
    let answer = anonymous.post("login", &log_in).await.ok();
    let ann = User { client: anonymous.with_token(text(&answer, "token")), ..ann.clone() };
    let bob = ann.colleague(anonymous, "bob@example.com").await;
    secret.add("a colleague's token", &bob.token);
    ann.client.get("team/get").await.ok();
    ann.client.post("team/revoke", &json!({"userids": [bob.userid]})).await.ok();
    ann.client.post("team/delete", &json!({"userids": [bob.userid]})).await.ok();
    let contact = json!({"contact-name": "Ann", "contact-email": ann.email,
        "contact-subject": "Hello", "contact-message": "How are you?"});
    anonymous.post("contactus", &contact).await.ok();
    let metrics = anonymous.with_token(METRICS_TOKEN).get("/metrics").await;
    assert_eq!(metrics.status, 200);
    secret.add("the metrics token", METRICS_TOKEN);
    // One user remains, so that the searched database is not empty.
    let cid = MfaUser::sign_up(anonymous, "cid@example.com").await;
    secret.add("a TOTP secret that is in use", &cid.secret);
    secret.add("a token that is in use", &cid.user.token);
    let made = cid.user.client.post("integrations/apikey/save", &json!({"name": "ci"})).await.ok();
    secret.add("an API key that is in use", text(&made, "apikey"));
    secret.add("an Enc key that is in use", text(&made, "enckey"));
    stream(&cid.user.client, secret).await;
    monitors(&cid.user.client, secret).await;
    jobs(anonymous, &cid.user.client, secret).await;
    // A team can test ten notifiers per minute.
    let kinds: Vec<Kind> =
        Kind::ALL.iter().copied().filter(|kind| kind.service().is_some()).collect();
    for (number, some) in kinds.chunks(8).enumerate() {
        let owner = User::sign_up(anonymous, &format!("owner{number}@example.com")).await;
        services(&owner.client, some, secret).await;
    }
    ann.client.post_nothing("logout").await.ok();
    let answer = anonymous.post("login", &log_in).await.ok();
    let ann = anonymous.with_token(text(&answer, "token"));
    ann.post_nothing("logoutall").await.ok();
    let answer = anonymous.post("login", &log_in).await.ok();
    anonymous.with_token(text(&answer, "token")).post_nothing("user/delete").await.ok();
}

/// A stream that has sent entries, and one whose receiver fails.
async fn stream(owner: &Client, secret: &mut Sentinels) {
    let (working, failing) = (Receiver::start().await, Receiver::start().await);
    failing.answer_with(500, "", "");
    secret.add("the path of a stream", STREAM_PATH);
    for receiver in [&working, &failing] {
        let body = json!({"url": format!("{}/{STREAM_PATH}", receiver.url)});
        let saved = owner.post("audit/stream/save", &body).await.ok();
        secret.add("the secret of a stream", text(&saved, "secret"));
        receiver.wait_for_hooks(1).await;
    }
}

/// Monitors with every secret there is, of a server that fails and repeats what it was sent.
async fn monitors(owner: &Client, secret: &mut Sentinels) {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = server.accept().await {
            connections.spawn(repeat_request(stream));
        }
    });
    for (name, value) in MONITOR_SECRETS {
        secret.add(name, value);
    }
    let client = Authority::new("Clients").issue("client.test");
    secret.add("a client key", client.pem.1.lines().nth(1).unwrap());
    let [basic, header, bearer, digest, client_secret, _, proxy] =
        MONITOR_SECRETS.map(|(_, value)| value);
    let login = |kind: &str, password: &str| json!({"authentication_type": kind, "username": "ann", "password": password});
    let options = [
        login("basic", basic),
        login("digest", digest),
        json!({"headers": format!("X-Api-Key: {header}")}),
        json!({"authentication_type": "bearer", "token": bearer}),
        json!({"authentication_type": "oauth2", "oauth2": {"token_url": format!("http://{address}/token"),
            "client_id": "ann", "client_secret": client_secret}}),
        json!({"proxy": format!("http://ann:{proxy}@{address}")}),
        json!({"client_certificate": client.pem.0, "client_key": client.pem.1}),
    ];
    let receiver = Receiver::start().await;
    let hook = json!({"name": "hook", "type": "webhook", "webhook": {"url": receiver.url}});
    let notifier = owner.post("notifier/save", &hook).await.json()["notifierid"].clone();
    for (number, options) in options.iter().enumerate() {
        let mut http = json!({"url": format!("http://{address}/{number}")});
        http.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let body = json!({"name": format!("secret {number}"), "type": "http", "heartbeat_interval": 3_600,
            "isactive": true, "upside_down_mode": false, "retries": 0, "notifiers": notifier, "http": http,
            "assertions": [{"source": "body", "comparison": "contains", "target": "welcome"}]});
        owner.post("monitor/save", &body).await.ok();
    }
    let hooks = receiver.wait_for_hooks(options.len()).await;
    for hook in hooks {
        assert_eq!(secret.found_in(hook.json().to_string().as_bytes()), BTreeSet::new());
    }
    serving.abort_all();
}

/// A job that is reported by both kinds of ping URLs, with what it printed.
async fn jobs(anonymous: &Client, owner: &Client, secret: &mut Sentinels) {
    let receiver = Receiver::start().await;
    let hook = json!({"name": "jobs", "type": "webhook", "webhook": {"url": receiver.url}});
    let notifier = owner.post("notifier/save", &hook).await.json()["notifierid"].clone();
    let body = json!({"name": "job", "type": "api", "heartbeat_interval": 86_400, "isactive": true,
        "upside_down_mode": false, "notifiers": notifier, "api": {"slug": "backup"}});
    let saved = owner.post("monitor/save", &body).await.ok()["monitor"].clone();
    let (id, url) = (text(&saved, "monitorid"), text(&saved, "ping_url"));
    let uuid = url.rsplit('/').next().unwrap();
    let key = owner.post_nothing("team/pingkey/rotate").await.ok();
    let key = text(&key, "ping_key");
    secret.add("the UUID of a ping URL", uuid);
    secret.add("a ping key", key);
    secret.add("the body of a ping", PING_BODY);
    for (path, status) in [
        (format!("/ping/{uuid}/start"), 200),
        (format!("/ping/{uuid}/3"), 200),
        (format!("/ping/{key}/backup/log"), 200),
        (format!("/ping/{key}/new?create=1"), 201),
        (format!("/ping/{key}/unknown"), 404),
        (format!("/ping/{uuid}/999"), 400),
    ] {
        let printed = format!("cannot log in with {PING_BODY}");
        let answer = anonymous.raw(reqwest::Method::POST, &path, Some("text/plain"), printed).await;
        assert_eq!(answer.status, status, "{}", answer.text);
    }
    let body = owner.get(&format!("monitor/{id}/pings/2/body")).await;
    assert!(body.text.ends_with(PING_BODY), "{}", body.text);
    let event = receiver.wait_for_hooks(1).await[0].json();
    assert_eq!(secret.found_in(event.to_string().as_bytes()), BTreeSet::new());
}

async fn repeat_request(mut stream: TcpStream) -> std::io::Result<()> {
    let mut request = vec![0; 16_384];
    let length = stream.read(&mut request).await?;
    let request = String::from_utf8_lossy(&request[..length]).into_owned();
    let issued = MONITOR_SECRETS[5].1;
    let (status, body) = if request.contains(" /token ") {
        ("200 OK", format!(r#"{{"access_token": "{issued}", "token_type": "bearer"}}"#))
    } else {
        ("500 Failure", request)
    };
    let challenge = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"";
    let status = if body.contains("GET /1 ") { "401 Unauthorized" } else { status };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{challenge}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()).await?;
    stream.shutdown().await
}

/// Notifiers of these services: previewed, tested, failing, and with a message about an outage.
async fn services(owner: &Client, kinds: &[Kind], secret: &mut Sentinels) {
    secret.add("the token of a service", SENTINEL);
    let (mut fakes, mut ids) = (Vec::new(), Vec::new());
    for kind in kinds {
        let fake = FakeService::start(*kind).await;
        let saved = owner.post("notifier/save", &fake.notifier(kind.as_str())).await.json();
        let id = json!({"notifierid": saved["notifierid"]});
        owner.post("notifier/preview", &id).await.ok();
        fake.next(Trouble::TokenRejected);
        owner.post("notifier/test", &id).await.refused(502, "not_delivered");
        ids.push(saved["notifierid"].clone());
        fakes.push(fake);
    }
    let before: Vec<usize> = fakes.iter().map(|fake| fake.requests().len()).collect();
    let body = json!({"name": "shop", "type": "api", "heartbeat_interval": 86400,
        "isactive": true, "upside_down_mode": false, "notifiers": ids});
    let saved = owner.post("monitor/save", &body).await.ok();
    let path = format!("monitor/notify/{}", text(&saved["monitor"], "monitorid"));
    owner.post(&path, &json!({"status": "down"})).await.ok();
    for (fake, before) in fakes.iter().zip(before) {
        until("a message", || async { (fake.requests().len() > before).then_some(()) }).await;
    }
}

/// All bytes of the database.
pub(crate) async fn database(installation: &Installation) -> Vec<u8> {
    match installation.database_kind() {
        DatabaseKind::Sqlite => {
            let with = |end: &str| PathBuf::from(format!("{}{end}", installation.file().display()));
            let files = [with(""), with("-wal")];
            files.iter().filter_map(|file| std::fs::read(file).ok()).flatten().collect()
        }
        DatabaseKind::Postgres => {
            // pg_dump must have the version of the server.
            let find = Command::new(workspace().join("scripts/find-postgres"));
            let tools = PathBuf::from(run_command(find).await.ok().trim());
            let mut dump = Command::new(tools.join("pg_dump"));
            dump.arg(installation.database_url());
            run_command(dump).await.ok().into_bytes()
        }
    }
}

async fn no_secret_is_left_anywhere(kind: DatabaseKind) {
    let mut mail_server = MailServer::start("none", None, Some(MAIL_PASSWORD)).await;
    let mut installation = mail_server.settings(Installation::new(kind).await.without_limits());
    installation = installation.set("LOG", "trace").set("SERVER_METRICS_TOKEN", METRICS_TOKEN);
    installation = installation.set("AUDIT_LOG", "true");
    if kind == DatabaseKind::Postgres {
        // The test's server requires no password and accepts any.
        let url = installation.database_url().replacen('@', &format!(":{DATABASE_PASSWORD}@"), 1);
        installation = installation.set("DATABASE_URL", &url);
    }
    let server = installation.serve().await;
    let mut secret = call_everything(&server.anonymous(), &mut mail_server).await;
    secret.add("the mail password", MAIL_PASSWORD);
    secret.add("the database's password", DATABASE_PASSWORD);
    let key = std::fs::read_to_string(installation.data().join("master.key")).unwrap();
    secret.add("the master key", key.trim());

    let stored = database(&installation).await;
    server.kill().await;
    let log = installation.log();
    assert!(log.contains("\"level\":\"DEBUG\""), "the log is not verbose");
    assert!(log.contains("\"target\":\"audit\""), "the log has no entries of the audit log");
    assert_eq!(secret.found_in(log.as_bytes()), BTreeSet::new());
    assert_eq!(secret.found_in(&stored), BTreeSet::new());
    // The search finds plain text.
    let mut there = Sentinels::default();
    there.add("an address", "cid@example.com");
    assert_eq!(there.found_in(&stored), BTreeSet::from(["an address"]));
}

#[tokio::test]
async fn no_secret_is_left_in_the_log_or_in_sqlite() {
    no_secret_is_left_anywhere(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn no_secret_is_left_in_the_log_or_in_postgres() {
    no_secret_is_left_anywhere(DatabaseKind::Postgres).await;
}
