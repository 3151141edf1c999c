//! An alert storm: ten thousand monitors go silent in the same second. All
//! events reach a webhook and a mail server, neither is flooded, and the API
//! stays fast. Then the same with a receiver that hangs, and an alert of
//! another team beside it.

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

use crate::receiver::{Receiver, SmtpServer};
use crate::report::Report;
use crate::seed::{self, MonitorSet};
use crate::service::Service;
use crate::stats::percentile;
use crate::target::Target;
use crate::{Outcome, Run};

const COUNT: usize = 10_000;
/// How long the monitors have after a start before their reports are missed.
const INTERVAL: u64 = 20;
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(240);
/// How many alerts the other team has.
const OTHER_TEAM_ALERTS: usize = 6;

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("storm: {COUNT} monitors down in one second");
    everything_is_delivered(run, target, report).await?;
    println!("storm: {COUNT} messages to a receiver that hangs");
    other_teams_do_not_wait(run, target, report).await
}

async fn everything_is_delivered(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    let (hook, smtp_server) = (Receiver::start(Duration::ZERO).await?, SmtpServer::start().await?);
    let service = start_crowded(run, target, &[webhook(&hook.url), mail(smtp_server.port)]).await?;
    let before = service.resident()?;
    until("the storm", || hook.count() > 0).await?;
    let began = Instant::now();
    let mut times = Vec::new();
    while hook.count() < COUNT && began.elapsed() < DELIVERY_TIMEOUT {
        let asked = Instant::now();
        service.get("/api/v1/monitors?limit=100").await?;
        times.push(asked.elapsed().as_secs_f64() * 1_000.0);
        sleep(Duration::from_millis(20)).await;
    }
    let took = began.elapsed().as_secs_f64();
    let name = |what: &str| format!("storm, {COUNT} monitors: {what}");
    report.expect_none(&name("events missing at the webhook"), COUNT - hook.distinct());
    report.expect_none(&name("events sent twice"), hook.count() - hook.distinct());
    report.at_most(&name("all at the webhook, s"), took, 120.0);
    report.at_most(&name("at the webhook at once"), hook.most_at_once() as f64, 10.0);
    report.at_most(&name("API p99 meanwhile, ms"), percentile(&times, 0.99), 500.0);
    let names: Vec<String> = (0..COUNT).map(label).collect();
    until("the mails", || smtp_server.names_missing(&names) == 0).await?;
    report.expect_none(&name("monitors missing from the mails"), smtp_server.names_missing(&names));
    report.at_most(&name("mails in the busiest minute"), smtp_server.fullest_minute() as f64, 6.0);
    println!("  {} mails in all", smtp_server.count());
    let grown = service.peak()?.saturating_sub(before) as f64 / 1_048_576.0;
    report.at_most(&name("growth of memory at its peak, MiB"), grown, 256.0);
    service.stop().await
}

async fn other_teams_do_not_wait(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    let (hanging, fine) =
        (Receiver::start(DELIVERY_TIMEOUT).await?, Receiver::start(Duration::ZERO).await?);
    let service = start_crowded(run, target, &[webhook(&hanging.url)]).await?;
    let token = sign_up(&service).await?;
    let notifier =
        text(&service.post_as(&token, "notifier/save", &webhook(&fine.url)).await?, "notifierid")?;
    let made = service.post_as(&token, "monitor/save", &monitor("beside", &[notifier])).await?;
    let path = format!("monitor/notify/{}", text(&made["monitor"], "monitorid")?);
    until("the storm", || hanging.count() >= 10).await?;
    let mut slowest = Duration::ZERO;
    for alert in 0..OTHER_TEAM_ALERTS {
        let status = if alert % 2 == 0 { "down" } else { "up" };
        let began = Instant::now();
        service.post_as(&token, &path, &json!({"status": status})).await?;
        until("the other team's alert", || fine.count() > alert).await?;
        slowest = slowest.max(began.elapsed());
        sleep(Duration::from_secs(2)).await;
    }
    let name = "hanging receiver, 10000 waiting: another team's alert, s";
    report.at_most(name, slowest.as_secs_f64(), 5.0);
    service.stop().await
}

/// A service whose monitors, all linked to these notifiers, will miss their
/// reports in the same second: a start gives each of them one more interval.
async fn start_crowded(run: &Run, target: &Target, notifiers: &[Value]) -> Outcome<Service> {
    let empty = MonitorSet { count: 0, ..MonitorSet::paced(0, INTERVAL, target.http) };
    let service = Service::start(run, target, &empty).await?;
    let mut ids = Vec::new();
    for notifier in notifiers {
        ids.push(text(&service.post("notifier/save", notifier).await?, "notifierid")?);
    }
    let first = service.post("monitor/save", &monitor(&label(0), &ids)).await?;
    let path = format!("monitor/notify/{}", text(&first["monitor"], "monitorid")?);
    service.post(&path, &json!({"status": "up"})).await?;
    let (data, token) = service.leave().await?;
    copy(data.path()).await?;
    Service::launch(run, target, data, token).await
}

/// Copies the only monitor ten thousand times.
async fn copy(data: &Path) -> Outcome<()> {
    let options = SqliteConnectOptions::new().filename(seed::database(data));
    let mut db = SqliteConnection::connect_with(&options).await?;
    let mut tx = db.begin().await?;
    sqlx::query(
        "with recursive numbers (n) as (
             select 1 union all select n + 1 from numbers where n + 1 < $1)
         insert into monitors
         (id, team_id, name, kind, spec, isactive, heartbeat_interval, retries, upside_down_mode,
          tags, search, modified, created)
         select unhex(printf('0192f0000000700080%014x', n)), team_id, printf('job-%05d', n), kind,
                spec, isactive, heartbeat_interval, retries, upside_down_mode, tags,
                printf('job-%05d', n), modified, created
         from monitors, numbers",
    )
    .bind(i64::try_from(COUNT)?)
    .execute(&mut *tx)
    .await?;
    sqlx::query(
        "insert into monitor_states
         (monitor_id, status, since, last_check, last_message, load_time, seq)
         select m.id, s.status, s.since, s.last_check, s.last_message, s.load_time, s.seq
         from monitors m, monitor_states s
         where m.id <> s.monitor_id",
    )
    .execute(&mut *tx)
    .await?;
    sqlx::query(
        "insert into monitor_notifiers (monitor_id, notifier_id, position)
         select m.id, l.notifier_id, l.position
         from monitors m, monitor_notifiers l
         where m.id not in (select monitor_id from monitor_notifiers)",
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    db.close().await?;
    Ok(())
}

fn label(number: usize) -> String {
    format!("job-{number:05}")
}

fn monitor(name: &str, notifiers: &[String]) -> Value {
    json!({"name": name, "type": "api", "heartbeat_interval": INTERVAL, "isactive": true,
        "upside_down_mode": false, "notifiers": notifiers})
}

fn webhook(url: &str) -> Value {
    json!({"name": "hook", "type": "webhook", "webhook": {"url": url}})
}

fn mail(port: u16) -> Value {
    json!({"name": "mail", "type": "email", "email": {"hostname": "127.0.0.1", "port": port,
        "security": "none", "from_email": "wakeful@example.com", "to_email": "oncall@example.com"}})
}

async fn sign_up(service: &Service) -> Outcome<String> {
    let body = json!({"email": "beside@example.com", "password": "a quiet night 7"});
    text(&service.post("signup", &body).await?, "token")
}

fn text(json: &Value, field: &str) -> Outcome<String> {
    let text = json[field].as_str().ok_or_else(|| format!("no {field} in {json}"))?;
    Ok(text.to_owned())
}

async fn until(what: &str, is_there: impl Fn() -> bool) -> Outcome<()> {
    let began = Instant::now();
    while !is_there() {
        if began.elapsed() > DELIVERY_TIMEOUT {
            return Err(format!("waited {DELIVERY_TIMEOUT:?} for {what}").into());
        }
        sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
