//! The time from a failing check to its notification: the target responds with
//! 503, and a webhook is notified that the monitor is down. The change is
//! recorded by then: the notification comes from the same transaction.

use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

use crate::Outcome;
use crate::reader::Reader;
use crate::report::Report;
use crate::service::Service;
use crate::stats::Spread;
use crate::target::Target;

/// Percentage of monitors that flap.
pub const FLAPPING: u8 = 30;
/// How long the last notifications may take.
pub const FINAL_WAIT: Duration = Duration::from_secs(2);

pub async fn measure(
    report: &mut Report,
    target: &Target,
    service: &Arc<Service>,
    count: u32,
    window: Duration,
) -> Outcome<()> {
    for read in [false, true] {
        let reader = read.then(|| Reader::start(service.clone()));
        target.state.reset_delays();
        target.state.flap(FLAPPING);
        sleep(window).await;
        target.state.flap(0);
        sleep(FINAL_WAIT).await;
        let (delays, unnotified) = target.state.notification_delays();
        if let Some(reader) = reader {
            reader.stop().await;
        }
        let delays = Spread::of(&delays);
        let also = if read { ", list read each second" } else { "" };
        let name = format!("failing check to webhook, {count} monitors{also}");
        report.at_most(&format!("{name}: p50, ms"), delays.p50, 3.0);
        report.at_most(&format!("{name}: p99, ms"), delays.p99, 10.0);
        report.expect_none_of(
            &format!("{name}: not notified"),
            unnotified,
            delays.count + unnotified,
        );
    }
    Ok(())
}
