//! From a failing check to its change on record: the target answers 503, and
//! the live events, which are told after the commit, say that it is down.

use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

use crate::reader::Reader;
use crate::report::Report;
use crate::service::Service;
use crate::stats::Spread;
use crate::target::{Board, Target};
use crate::{Outcome, clock, site};

/// How many of ten monitors flap.
const FLAPPING: u8 = 3;

pub async fn measure(
    report: &mut Report,
    target: &Target,
    service: &Arc<Service>,
    count: u32,
    window: Duration,
) -> Outcome<()> {
    for read in [false, true] {
        let reader = read.then(|| Reader::start(service.clone()));
        target.board.flap(FLAPPING);
        let delays = delays(&target.board, service, count, window).await;
        target.board.flap(0);
        if let Some(reader) = reader {
            reader.stop();
        }
        let delays = Spread::of(&delays?);
        let also = if read { ", list read each second" } else { "" };
        let name = format!("failing check to change on record, {count} monitors{also}");
        report.at_most(&format!("{name}: p50 of {}, ms", delays.count), delays.p50, 3.0);
        report.at_most(&format!("{name}: p99, ms"), delays.p99, 10.0);
    }
    Ok(())
}

/// Milliseconds from each bad answer to the event that tells of it.
async fn delays(
    board: &Board,
    service: &Service,
    count: u32,
    window: Duration,
) -> Outcome<Vec<f64>> {
    let numbers: HashMap<String, u32> =
        (0..count).map(|number| (site::id(number).to_string(), number)).collect();
    let until = Instant::now() + window;
    let mut events = service.open("/api/v1/events").await?;
    let (mut text, mut delays) = (Vec::new(), Vec::new());
    while let Ok(chunk) = timeout_at(until, events.chunk()).await {
        let Some(chunk) = chunk? else { break };
        let at = clock::mono();
        text.extend_from_slice(&chunk);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            let down = line.strip_prefix(b"data: ").and_then(went_down);
            let number = down.and_then(|id| numbers.get(&id).copied());
            if let Some(refused) = number.and_then(|number| board.refused(number)) {
                delays.push(at.saturating_sub(refused) as f64 / 1e6);
            }
        }
    }
    Ok(delays)
}

/// The monitor that an event says has just gone down.
fn went_down(data: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(data).ok()?;
    (event["status"] == "down" && event["previous_status"] == "up")
        .then(|| event["monitorid"].as_str().map(ToOwned::to_owned))?
}
