//! Every update reaches every subscriber, in order, wherever the process dies. What is sent twice
//! has the same id.

use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;
use wakeful_testkit::{
    Client, DatabaseKind, Receiver, SmtpSecurity, SmtpServer, User, until, until_within,
};

use crate::process::{Installation, Server, random_below};

/// The places where a crash could separate an update from its messages.
const FAILPOINTS: [&str; 4] = ["after-event", "after-fanout-batch", "after-claim", "after-send"];

/// How long the most messages may take.
const MAX_DELIVERY: Duration = Duration::from_secs(600);

struct Scenario {
    token: String,
    page: String,
    component: String,
    hooks: usize,
    inboxes: usize,
    receiver: Receiver,
    mail: SmtpServer,
}

impl Scenario {
    async fn begin(kind: DatabaseKind, hooks: usize, inboxes: usize) -> (Installation, Self) {
        let mail = SmtpServer::start(SmtpSecurity::Plain).await;
        let installation = Installation::new(kind)
            .await
            .without_limits()
            .set("MAIL_HOST", "127.0.0.1")
            .set("MAIL_PORT", &mail.port.to_string())
            .set("MAIL_SECURITY", "none")
            .set("STATUSPAGES_MAILS_PER_MINUTE", "0");
        let server = installation.serve().await;
        let ann = User::sign_up(&server.anonymous(), "ann@example.com").await;
        let page = json!({"name": "Acme", "published": true,
            "sections": [{"components": [{"name": "API"}]}]});
        let page = ann.client.post("statuspage/save", &page).await.ok()["statuspage"].clone();
        let receiver = Receiver::start().await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let scenario = Self {
            token: ann.token.clone(),
            page: text(&page["pageid"]),
            component: text(&page["sections"][0]["components"][0]["componentid"]),
            hooks,
            inboxes,
            receiver,
            mail,
        };
        let hook = |n: usize| {
            let url = format!("{}/{n}", scenario.receiver.url);
            json!({"kind": "webhook", "address": url})
        };
        let inbox = |n: usize| json!({"address": format!("inbox{n}@example.com")});
        let all: Vec<Value> = (0..hooks).map(hook).chain((0..inboxes).map(inbox)).collect();
        for part in all.chunks(1_000) {
            let import = json!({"consent": true, "subscribers": part});
            let path = format!("statuspage/{}/subscribers/import", scenario.page);
            ann.client.post(&path, &import).await.ok();
        }
        server.stop().await;
        (installation, scenario)
    }

    fn client(&self, server: &Server) -> Client {
        server.anonymous().with_token(&self.token)
    }

    /// Opens an incident; `None` if the process died before it responded.
    async fn post(&self, server: &Server, number: usize) -> Option<()> {
        let title = format!("Update {number}");
        let url = format!("{}/api/v1/incident/save", server.url);
        let body = json!({"title": title, "update": {"body": title},
            "components": [{"componentid": self.component, "status": "partial_outage"}]});
        let sent = reqwest::Client::new().post(url).bearer_auth(&self.token).json(&body).send();
        sent.await.ok().filter(|answer| answer.status() == 200).map(drop)
    }

    /// Whether everything that was posted has been delivered.
    async fn is_done(&self, installation: &Installation) -> bool {
        let open = "select (select count(*) from statuspage_events where completed is null)
            + (select count(*) from statuspage_deliveries where next_try is not null)";
        installation.number(open).await == 0
    }

    /// Each update reached each webhook in order; returns how many messages were repeated.
    fn check_hooks(&self, titles: &[String]) -> usize {
        let mut seen: HashSet<(String, String)> = HashSet::new();
        let mut of: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut repeated = 0;
        for hook in self.receiver.hooks() {
            let title = hook.json()["data"]["incident"]["title"].as_str().unwrap().to_owned();
            if seen.insert((hook.path.clone(), hook.id())) {
                of.entry(hook.path.clone()).or_default().push(title);
            } else {
                repeated += 1;
            }
        }
        assert_eq!(of.len(), self.hooks);
        for (path, got) in of {
            assert_eq!(got, titles, "{path}");
        }
        repeated
    }

    /// Each update reached each inbox.
    fn check_mails(&self, titles: &[String]) {
        let mut bodies: HashMap<String, String> = HashMap::new();
        let mut ids: HashMap<String, String> = HashMap::new();
        for mail in self.mail.mails().iter().filter(|mail| mail.to[0].contains("inbox")) {
            let known = ids.insert(mail.header("Message-ID"), mail.to[0].clone());
            if known.is_none() {
                bodies.entry(mail.to[0].clone()).or_default().push_str(&mail.text);
            }
        }
        assert_eq!(bodies.len(), self.inboxes);
        for (inbox, text) in bodies {
            for title in titles {
                assert!(text.contains(title.as_str()), "{inbox} misses {title}");
            }
        }
    }
}

/// Other nodes would wait until the leases of the dead one expire.
async fn release_leases(installation: &Installation) {
    for table in ["statuspage_events", "statuspage_deliveries"] {
        installation.execute(&format!("update {table} set lease_until = 0")).await;
    }
}

async fn no_update_is_lost_wherever_the_process_dies(kind: DatabaseKind) {
    let (mut installation, scenario) = Scenario::begin(kind, 2, 2).await;
    let mut titles = Vec::new();
    let mut deaths = 0;
    for (number, place) in FAILPOINTS.into_iter().enumerate() {
        installation = installation.with_failpoint(place, 1);
        let server = installation.serve().await;
        titles.push(format!("Update {number}"));
        // The update is saved before each of these places.
        scenario.post(&server, number).await;
        server.died().await;
        deaths += 1;
        installation = installation.without_failpoint();
        release_leases(&installation).await;
        let server = installation.serve().await;
        // An inbox gets the next email after five minutes; that is not what is tested here.
        let client = scenario.client(&server);
        client.get(&format!("statuspage/{}/get", scenario.page)).await.ok();
        until("all messages", || async {
            let skip = "update statuspage_deliveries set next_try = 1 where next_try > 1";
            installation.execute("update subscribers set last_delivery = null").await;
            installation.execute(skip).await;
            scenario.is_done(&installation).await.then_some(())
        })
        .await;
        server.stop().await;
    }
    let repeated = scenario.check_hooks(&titles);
    scenario.check_mails(&titles);
    assert_eq!(deaths, FAILPOINTS.len());
    assert!(repeated <= scenario.hooks, "{repeated} repeated");
}

#[tokio::test]
async fn no_update_is_lost_wherever_the_process_dies_on_sqlite() {
    no_update_is_lost_wherever_the_process_dies(DatabaseKind::Sqlite).await;
}

#[tokio::test]
async fn no_update_is_lost_wherever_the_process_dies_on_postgres() {
    no_update_is_lost_wherever_the_process_dies(DatabaseKind::Postgres).await;
}

/// 200 updates to 500 subscribers, with the process killed at random.
#[tokio::test]
#[ignore = "200 updates to 500 subscribers"]
async fn no_update_is_lost_when_the_process_is_killed() {
    let (installation, scenario) = Scenario::begin(DatabaseKind::Sqlite, 50, 450).await;
    let mut titles = Vec::new();
    let mut server = installation.serve().await;
    let mut kills = 0;
    for number in 0..200 {
        while scenario.post(&server, number).await.is_none() {
            server = installation.serve().await;
        }
        titles.push(format!("Update {number}"));
        tokio::time::sleep(Duration::from_millis(random_below(300))).await;
        if random_below(5) == 0 {
            kills += 1;
            server.kill().await;
            release_leases(&installation).await;
            server = installation.serve().await;
        }
    }
    until_within(MAX_DELIVERY, "all messages", || async {
        installation.execute("update subscribers set last_delivery = null").await;
        let skip = "update statuspage_deliveries set next_try = 1 where next_try > 1";
        installation.execute(skip).await;
        scenario.is_done(&installation).await.then_some(())
    })
    .await;
    let repeated = scenario.check_hooks(&titles);
    scenario.check_mails(&titles);
    println!("200 updates to 500 subscribers, {kills} kills, {repeated} sent twice");
    server.stop().await;
}
