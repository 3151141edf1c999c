//! The rows about slow targets. The server follows a course: a character for each request.

use serde_json::json;

use super::peers::Peers;
use super::{Degraded, Down, Matrix, Row, Up, http, row, with};
use crate::process::Installation;

const USUAL: &str = "five times the usual";

pub(super) fn rows(peers: &Peers, run: usize) -> Vec<Row> {
    let port = peers.http.port;
    let course = |course: &str| http(format!("http://speed.test:{port}/course/{run}/{course}"));
    let slow = |steps| with(course(steps), json!({"degraded": {"slow": 300}}));
    let factor = json!({"degraded": {"factor": 5}});
    // Active when its usual times are set.
    let usual = with(with(course("ssss"), factor.clone()), json!({"isactive": false}));
    vec![
        row("three of five slow", slow("sus"), Degraded("slow")).after(&[], 3),
        row("one of five slow", slow("suuuu"), Up),
        row(USUAL, usual, Degraded("slower_than_usual")),
        row("no usual time on the first day", with(course("s"), factor), Up),
        row("slow and then down", slow("sd"), Down("http_status")).after(&[], 1),
        row("degraded and then down", slow("sssd"), Down("http_status"))
            .after(&["monitor.degraded"], 3),
        row("down and then slow", slow("ds"), Degraded("slow"))
            .after(&["monitor.down", "monitor.up"], 3),
    ]
}

/// A week of checks is computed into these numbers once an hour, which the test does not wait for.
pub(super) async fn set_usual_times(installation: &Installation, matrix: &Matrix<'_>) {
    let sql = format!(
        "update monitor_states set baseline = '{{\"p50\":20000,\"p95\":60000}}'
         where monitor_id in (select id from monitors where name = '{USUAL}')"
    );
    installation.execute(&sql).await;
    let id = &matrix.named(USUAL).id;
    let body = json!({"monitorid": id, "isactive": true});
    matrix.client.post("monitor/save", &body).await.ok();
}
