//! Status pages in bad times: an update to all subscribers of a page, and views while the
//! database is unavailable.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::history::database::Database;
use crate::paced::INTERVAL;
use crate::receiver::SmtpServer;
use crate::report::Report;
use crate::seed::{self, MonitorSet};
use crate::service::Service;
use crate::statuspages::{served, visit};
use crate::target::Target;
use crate::visitors::Visit;
use crate::{Outcome, Run};

const SUBSCRIBERS: usize = 10_000;
/// As many as one call imports.
const IMPORT: usize = 1_000;
const MAILING_TIMEOUT: Duration = Duration::from_secs(300);
/// How long the database is unavailable, and the views meanwhile.
const OUTAGE: Duration = Duration::from_secs(60);
const VISITORS: usize = 50;
const VIEWS_PER_SECOND: u32 = 1_000;

/// An update to many subscribers through a relay on this machine.
pub async fn mailing(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("status page: an update to {SUBSCRIBERS} subscribers");
    let relay = SmtpServer::start().await?;
    let port = relay.port.to_string();
    let data = tempfile::tempdir()?;
    let token = seed::seed(data.path(), &MonitorSet::paced(1, INTERVAL, target.http)).await?;
    let variables = [
        ("WAKEFUL_MAIL_HOST", "127.0.0.1"),
        ("WAKEFUL_MAIL_PORT", &*port),
        ("WAKEFUL_MAIL_SECURITY", "none"),
        ("WAKEFUL_STATUSPAGES_MAILS_PER_MINUTE", "0"),
        ("WAKEFUL_LIMITS_ADDED_SUBSCRIBERS_PER_HOUR", "10000"),
    ];
    let service = Service::launch_with(run, target, data, token, &variables).await?;
    let page = save_page(&service).await?;
    let id = page["pageid"].as_str().ok_or("no page")?;
    for first in (0..SUBSCRIBERS).step_by(IMPORT) {
        let address = |number: usize| json!({"address": format!("inbox{number}@example.com")});
        let all: Vec<Value> = (first..first + IMPORT).map(address).collect();
        let path = format!("statuspage/{id}/subscribers/import");
        service.post(&path, &json!({"consent": true, "subscribers": all})).await?;
    }
    let component = &page["sections"][0]["components"][0]["componentid"];
    let incident = json!({"title": "Shop down", "update": {"body": "We are looking into it."},
        "components": [{"componentid": component, "status": "major_outage"}]});
    let began = Instant::now();
    service.post("incident/save", &incident).await?;
    while relay.count_mailing().1 < SUBSCRIBERS && began.elapsed() < MAILING_TIMEOUT {
        sleep(Duration::from_millis(100)).await;
    }
    let took = began.elapsed().as_secs_f64();
    let (sent, different) = relay.count_mailing();
    let name = |what: &str| format!("status page, {SUBSCRIBERS} subscribers: {what}");
    report.at_most(&name("an update is handed over, s"), took, 120.0);
    report.expect_none(&name("emails lost"), SUBSCRIBERS.saturating_sub(different));
    report.expect_none(&name("emails sent twice"), sent - different);
    service.stop().await
}

/// Views while PostgreSQL cannot be reached.
pub async fn outage(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    let Some(mut database) = Database::server("pages").await? else {
        println!("  no PostgreSQL, skipped: run under scripts/with-postgres");
        return Ok(());
    };
    println!("status page: {} s without the database", OUTAGE.as_secs());
    let store = database.open().await?;
    let monitors = MonitorSet::paced(10, INTERVAL, target.http);
    let token = database.seed_monitors(&store, &monitors).await?;
    store.close().await;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let server = database.through(listener.local_addr()?.port())?;
    let (connected, is_connected) = watch::channel(true);
    tokio::spawn(forward(listener, server, is_connected));
    let service = database.launch(run, target, token).await?;
    save_page(&service).await?;
    served(&service, "shop").await?;
    let every = Duration::from_secs(1) * u32::try_from(VISITORS)? / VIEWS_PER_SECOND;
    let page = Visit { every, ..visit(&service, "/status/shop")? };
    connected.send_replace(false);
    let visits = page.repeat(VISITORS, OUTAGE).await;
    connected.send_replace(true);
    let name =
        |what: &str| format!("status page, {} s without the database: {what}", OUTAGE.as_secs());
    report.expect_none(&name("failed views"), visits.failed);
    let least = f64::from(VIEWS_PER_SECOND) * 0.95;
    report.at_least(&name("views per second"), visits.per_second, least);
    service.stop().await
}

async fn save_page(service: &Service) -> Outcome<Value> {
    let page = json!({"name": "Shop", "slug": "shop", "published": true,
        "sections": [{"components": [{"name": "Shop"}]}]});
    let mut saved = service.post("statuspage/save", &page).await?;
    Ok(saved["statuspage"].take())
}

/// Forwards connections to the database, except while it is cut off.
async fn forward(listener: TcpListener, server: u16, connected: watch::Receiver<bool>) {
    while let Ok((mut client, _)) = listener.accept().await {
        let mut connected = connected.clone();
        tokio::spawn(async move {
            if !*connected.borrow() {
                return;
            }
            let Ok(mut server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
            tokio::select! {
                _ = copy_bidirectional(&mut client, &mut server) => {}
                _ = connected.wait_for(|connected| !connected) => {}
            }
        });
    }
}
