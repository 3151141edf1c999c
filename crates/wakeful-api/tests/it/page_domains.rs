//! Custom domains of status pages, the page at `/status`, frames, and the paths of Uptime Kuma.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;
use wakeful_testkit::{App, DatabaseKind, Setup, User, both_databases, send_raw, until};

/// A name server whose TXT records a test sets. Other names do not exist.
#[derive(Clone, Default)]
struct NameServer(Arc<Mutex<HashMap<String, String>>>);

impl NameServer {
    #[expect(clippy::disallowed_methods, reason = "it ends with the runtime of the test")]
    async fn start(&self) -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let server = self.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
                let _ = socket.send_to(&server.answer(&buffer[..length]), from).await;
            }
        });
        address
    }

    fn set(&self, name: &str, text: &str) {
        self.0.lock().unwrap().insert(name.to_owned(), text.to_owned());
    }

    fn clear(&self) {
        self.0.lock().unwrap().clear();
    }

    fn answer(&self, query: &[u8]) -> Vec<u8> {
        let (mut labels, mut at) = (Vec::new(), 12);
        while query[at] != 0 {
            let end = at + 1 + usize::from(query[at]);
            labels.push(String::from_utf8_lossy(&query[at + 1..end]).to_lowercase());
            at = end;
        }
        let question = &query[12..at + 5];
        let found = self.0.lock().unwrap().get(&labels.join(".")).cloned();
        let code = if found.is_some() { 0 } else { 3 };
        let mut answer =
            [&query[..2], &[0x81, 0x80 | code, 0, 1, 0, 1 - code / 3, 0, 0, 0, 0]].concat();
        answer.extend(question);
        if let Some(text) = found {
            let length = u8::try_from(text.len()).unwrap();
            answer.extend([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, length + 1, length]);
            answer.extend(text.bytes());
        }
        answer
    }
}

async fn save(user: &User, page: Value) -> Value {
    user.client.post("statuspage/save", &page).await.ok()["statuspage"].clone()
}

/// A page with a domain.
fn page(name: &str, domain: &str) -> Value {
    json!({"name": name, "slug": name, "published": true,
        "domains": [{"domain": domain, "primary": true}],
        "sections": [{"name": "", "components": [{"name": "Shop", "alias": "shop"}]}]})
}

/// The status and the whole response to a request for a host.
async fn get(app: &App, host: &str, path: &str, more: &str) -> (u16, String) {
    let head = format!(
        "GET {path} HTTP/1.1\r\nhost: {host}\r\naccept: text/html\r\n{more}connection: close\r\n\r\n"
    );
    let answer = send_raw(&app.url, head.as_bytes()).await;
    (answer[9..12].parse().unwrap(), answer)
}

async fn served(app: &App, host: &str) -> String {
    until(&format!("{host} to be served"), || async {
        let (status, answer) = get(app, host, "/", "").await;
        (status == 200).then_some(answer)
    })
    .await
}

both_databases! {
    async fn a_domain_serves_its_page_and_nothing_else(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let saved = save(&ann, page("acme", "Status.Acme.Example.")).await;
        assert_eq!(saved["url"], "https://status.acme.example");
        let domains = json!([{"domain": "status.acme.example", "primary": true, "verified": false}]);
        assert_eq!(saved["domains"], domains);
        assert_eq!(save(&ann, saved.clone()).await["domains"], saved["domains"]);
        let list = ann.client.get("statuspages").await.ok();
        assert_eq!(list["statuspages"][0]["url"], "https://status.acme.example");
        let taken = eve.client.post("statuspage/save", &page("eve", "status.acme.example")).await;
        taken.refused(409, "domain_taken");
        let own = app.url.trim_start_matches("http://").split(':').next().unwrap();
        let own = json!({"name": "x", "domains": [{"domain": own}]});
        ann.client.post("statuspage/save", &own).await.refused(422, "invalid_fields");
        save(&eve, page("eve", "status.eve.example")).await;

        let host = "status.acme.example";
        let front = served(&app, host).await;
        assert!(front.contains("Shop") && front.contains("href=\"/history\""), "{front}");
        assert!(front.contains("strict-transport-security: max-age=31536000\r\n"), "{front}");
        let feed = get(&app, "STATUS.acme.example:8080", "/feed.atom", "").await;
        assert!(feed.0 == 200 && feed.1.contains("https://status.acme.example/"), "{}", feed.1);
        // The app's host has the same page with other links.
        let (status, answer) = get(&app, "localhost", "/status/acme", "").await;
        assert!(status == 200 && answer.contains("href=\"/status/acme/history\""), "{answer}");
        for (path, wanted) in [
            ("/robots.txt", 200),
            ("/embed", 200),
            ("/api/v2/summary.json", 200),
            ("/badge/status.svg", 200),
            ("/api/badge/shop/status", 200),
            ("/api/status-page/acme", 200),
            ("/api/status-page/eve", 404),
            ("/api/status-page/", 404),
            ("/api/badge/x/y/z", 200),
            ("/favicon.ico", 204),
            ("/status/eve", 404),
            ("/status/acme", 404),
            ("/api/v1/monitors", 404),
            ("/api/v1/statuspages", 404),
            ("/api/docs", 404),
            ("/api/openapi.json", 404),
            ("/api/statuspage/domain?domain=status.acme.example", 404),
            ("/metrics", 404),
            ("/healthz", 404),
            ("/assets/x.js", 404),
            ("/monitors", 404),
            ("/login", 303),
        ] {
            let (status, answer) = get(&app, host, path, "").await;
            assert_eq!(status, wanted, "{path}: {answer}");
            assert!(!answer.contains("/api/docs"), "{path}: {answer}");
            assert!(wanted != 404 || answer.contains("<h1>Not found</h1>"), "{path}: {answer}");
        }
        let (_, robots) = get(&app, host, "/robots.txt", "").await;
        assert!(robots.contains("Disallow: /"), "{robots}");
        let (status, _) = get(&app, "localhost", "/status/acme/robots.txt", "").await;
        assert_eq!(status, 404);
        // Other names are still refused, also with a page's domain beside them.
        assert_eq!(get(&app, "evil.example", "/", "").await.0, 421);
        let two = get(&app, host, "/", "host: evil.example\r\n").await;
        assert_eq!(two.0, 421, "{}", two.1);
        let forwarded = "x-forwarded-host: status.acme.example\r\n";
        let (_, answer) = get(&app, "localhost", "/", forwarded).await;
        assert!(!answer.contains("Shop"), "not from a proxy: {answer}");
        let ask = |domain: &str| format!("/api/statuspage/domain?domain={domain}");
        let anonymous = app.anonymous();
        assert_eq!(anonymous.get(&ask("Status.acme.example")).await.status, 200);
        assert_eq!(anonymous.get(&ask("unknown.example")).await.status, 404);
        // Without the domain, the page is at its path again.
        save(&ann, json!({"pageid": saved["pageid"], "domains": []})).await;
        until("the domain to be free", || async {
            (get(&app, host, "/", "").await.0 == 421).then_some(())
        })
        .await;
        save(&eve, page("eve2", host)).await;
    }

    async fn with_verification_a_domain_is_served_once_its_record_is_found(setup: Setup) {
        let mut setup = setup;
        let names = NameServer::default();
        setup.name_servers = vec![names.start().await];
        setup.settings.verify_domains = true;
        let app = setup.start_behind_proxy().await;
        let ann = app.sign_up("ann@example.com").await;
        app.verify(&ann).await;
        let saved = save(&ann, page("acme", "status.acme.example")).await;
        let id = saved["pageid"].as_str().unwrap();
        assert_eq!(saved["url"], format!("{}/status/acme", app.url));
        let check = async |domain: &str| {
            let path = format!("statuspage/{id}/domain/check");
            ann.client.post(&path, &json!({"domain": domain})).await
        };
        check("other.example").await.refused(422, "invalid_fields");
        let missing = check("status.acme.example").await.ok();
        assert_eq!((&missing["verified"], &missing["found"]), (&json!(false), &json!([])));
        let expected = json!({"name": "_wakeful.status.acme.example", "type": "TXT",
            "value": format!("wakeful-page={id}")});
        assert_eq!(missing["expected"], expected);
        until("the page", || async {
            (get(&app, "localhost", "/status/acme", "").await.0 == 200).then_some(())
        })
        .await;
        assert_eq!(get(&app, "status.acme.example", "/", "").await.0, 421);
        names.set("_wakeful.status.acme.example", "something else");
        assert_eq!(check("status.acme.example").await.ok()["found"], json!(["something else"]));
        names.set("_wakeful.status.acme.example", &format!("wakeful-page={id}"));
        assert_eq!(check("status.acme.example").await.ok()["verified"], true);
        let audited = ann.client.get("audit").await.ok()["entries"][0].clone();
        assert_eq!(audited["action"], "statuspage.update", "{audited}");
        served(&app, "status.acme.example").await;
        let page = ann.client.get(&format!("statuspage/{id}/get")).await.ok()["statuspage"].clone();
        assert_eq!(page["url"], "https://status.acme.example");
        assert_eq!(page["domains"][0]["verified"], true);
        // A proxy that changes the host names it in another header.
        let forwarded = "x-forwarded-host: status.acme.example:443, proxy.example\r\n";
        let (status, answer) = get(&app, "localhost", "/", forwarded).await;
        assert!(status == 200 && answer.contains("Shop"), "{answer}");
        // A record that is gone is reported once, and the page stays.
        names.clear();
        let count = app.mails_now(&ann.email).len();
        for _ in 0..2 {
            app.clock.advance(std::time::Duration::from_secs(90_000));
            app.sweep().await;
        }
        let mails = app.mails(&ann.email, count + 1).await;
        assert_eq!(mails.len(), count + 1);
        let lost = mails.iter().filter(|mail| mail.contains("_wakeful.status.acme.example")).count();
        assert_eq!(lost, 1, "{mails:?}");
        served(&app, "status.acme.example").await;
    }
}

#[tokio::test]
async fn locked_pages_are_unlocked_at_their_domain() {
    let app = Setup::on(DatabaseKind::Sqlite).start().await;
    let ann = app.sign_up("ann@example.com").await;
    let mut locked = page("acme", "status.acme.example");
    locked["access"] = json!("token");
    let saved = save(&ann, locked).await;
    let token = saved["access_token"].as_str().unwrap();
    let host = "status.acme.example";
    until("the page", || async { (get(&app, host, "/", "").await.0 == 401).then_some(()) }).await;
    let path = format!("/history?token={token}");
    let (status, answer) = get(&app, host, &path, "x-forwarded-proto: https\r\n").await;
    assert_eq!(status, 303, "{answer}");
    assert!(answer.contains("location: /history\r\n"), "{answer}");
    assert!(answer.contains("; Path=/; ") && answer.contains("; Secure"), "{answer}");
    let cookie = answer.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let (status, answer) = get(&app, host, "/", &format!("cookie: {cookie}\r\n")).await;
    assert!(status == 200 && answer.contains("action=\"/logout\""), "{answer}");
    let (status, answer) = get(&app, host, "/robots.txt", "").await;
    assert!(status == 200 && answer.contains("Disallow"), "{answer}");
    // Nobody is logged in to the app there.
    save(&ann, json!({"pageid": saved["pageid"], "access": "members"})).await;
    let bearer = format!("authorization: Bearer {}\r\n", ann.token);
    until("the lock", || async {
        let (status, answer) = get(&app, host, "/", &bearer).await;
        (status == 401 && !answer.contains("href=\"/login\"")).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_page_can_be_the_front_of_the_service_and_part_of_other_sites() {
    let mut setup = Setup::on(DatabaseKind::Sqlite);
    setup.api.front = "acme".to_owned();
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;
    let mut body = page("acme", "status.acme.example");
    body["embed_origins"] = json!(["https://a.example"]);
    let saved = save(&ann, body).await;
    let id = saved["sections"][0]["components"][0]["componentid"].as_str().unwrap();
    let browser = app.anonymous().with("accept", "text/html");
    let front = until("the front page", || async {
        let answer = browser.get("/status").await;
        (answer.status == 200).then_some(answer)
    })
    .await;
    assert!(front.text.contains("href=\"/status/acme/history\""), "{}", front.text);
    let root = browser.get("/").await;
    assert_eq!((root.status, root.header("location")), (307, "/status"));
    let logged_in = browser.with("cookie", "wakeful=wkt_something").get("/").await;
    assert_eq!(logged_in.status, 200);

    let frame = browser.get("/status/acme/embed").await;
    assert_eq!(frame.status, 200, "{}", frame.text);
    assert!(frame.header("content-security-policy").ends_with("frame-ancestors https://a.example"));
    assert_eq!(browser.get("/status/acme/embed?component=other").await.status, 404);
    let one = browser.get("/status/acme/embed?component=shop").await;
    assert!(one.text.contains("Shop: Operational"), "{}", one.text);
    let script = browser.get("/status/acme/embed.js").await;
    assert_eq!(script.header("cross-origin-resource-policy"), "cross-origin");
    assert!(script.header("content-type").starts_with("text/javascript"));

    // Uptime Kuma's paths.
    let kuma = app.anonymous().get("/api/status-page/acme").await;
    assert_eq!(kuma.json()["publicGroupList"][0]["monitorList"][0]["name"], "Shop");
    assert_eq!(kuma.header("access-control-allow-origin"), "*");
    let beats = app.anonymous().get("/api/status-page/heartbeat/acme").await.json();
    assert_eq!(beats["heartbeatList"][id].as_array().unwrap().last().unwrap()["status"], 1);
    for path in [
        format!("/api/badge/{id}/status"),
        "/api/badge/shop/status".to_owned(),
        "/api/status-page/acme/badge".to_owned(),
    ] {
        let badge = app.anonymous().get(&format!("{path}?upLabel=fine")).await;
        assert_eq!(badge.header("content-type"), "image/svg+xml");
        assert!(badge.text.contains("<title>Status: fine</title>"), "{path}: {}", badge.text);
    }
    let unknown = app.anonymous().get("/api/badge/7/status").await;
    assert!(unknown.status == 200 && unknown.text.contains("N/A"), "{}", unknown.text);
    app.anonymous().get("/api/status-page/other").await.refused(404, "not_found");
}
