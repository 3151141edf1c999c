//! The rows about jobs that report. Those about the changes of the clock, early reports and
//! restarts, which take hours, are in the tests of the scheduler.

use serde_json::{Value, json};

use super::{Down, Matrix, Row, Saved, Up, row, with};

const RID: &str = "00000000-0000-4000-8000-000000000001";
const STARTED: &str = "start without end";
const FAILED: &str = "exit code 3";
const LOGGED: &str = "only a log";
const REPEATED: &str = "the same report again";

fn job(more: Value) -> Value {
    with(json!({"type": "api", "heartbeat_interval": 3_600, "timeout": null}), more)
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        row(
            "silent past the grace",
            job(json!({"heartbeat_interval": 1, "grace": 1})),
            Down("missed"),
        ),
        row(STARTED, job(json!({"api": {"max_runtime": 1}})), Down("runtime")),
        row(FAILED, job(json!({})), Down("exit_code")),
        row(LOGGED, job(json!({})), Up),
        row(REPEATED, job(json!({})), Up),
    ]
}

/// Sends the reports of the rows.
pub(super) async fn report(matrix: &Matrix<'_>) {
    let ping = async |name: &str, end: &str| {
        let url = format!("{}{end}", matrix.named(name).ping_url);
        let answer = reqwest::Client::new().post(url).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{name}");
    };
    ping(STARTED, "/start").await;
    ping(FAILED, "/3").await;
    ping(LOGGED, "").await;
    ping(LOGGED, "/log").await;
    for _ in 0..2 {
        ping(REPEATED, &format!("?rid={RID}")).await;
    }
}

/// One heartbeat for each report, however often it was sent, and none for a log.
pub(super) async fn mistakes(matrix: &Matrix<'_>) -> Vec<String> {
    let mut mistakes = Vec::new();
    for name in [LOGGED, REPEATED] {
        let saved: &Saved = matrix.named(name);
        let beats = matrix.heartbeats(saved).await;
        if beats.len() != 1 {
            mistakes.push(format!("{name}: {beats:?}"));
        }
    }
    mistakes
}
