//! From a failing check to the message about it: the target answers 503, and a
//! webhook is told that the monitor is down. The change is on record by then:
//! what is told comes out of the same transaction.

use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

use crate::Outcome;
use crate::reader::Reader;
use crate::report::Report;
use crate::service::Service;
use crate::stats::Spread;
use crate::target::Target;

/// How many of a hundred monitors flap.
pub const FLAPPING: u8 = 30;
/// What was found out last has this long to be told.
const LAST: Duration = Duration::from_secs(2);

pub async fn measure(
    report: &mut Report,
    target: &Target,
    service: &Arc<Service>,
    count: u32,
    window: Duration,
) -> Outcome<()> {
    for read in [false, true] {
        let reader = read.then(|| Reader::start(service.clone()));
        target.board.listen();
        target.board.flap(FLAPPING);
        sleep(window).await;
        target.board.flap(0);
        sleep(LAST).await;
        let (delays, untold) = target.board.told();
        if let Some(reader) = reader {
            reader.stop().await;
        }
        let delays = Spread::of(&delays);
        let also = if read { ", list read each second" } else { "" };
        let name = format!("failing check to webhook, {count} monitors{also}");
        report.at_most(&format!("{name}: p50, ms"), delays.p50, 3.0);
        report.at_most(&format!("{name}: p99, ms"), delays.p99, 10.0);
        report.none_of(&format!("{name}: not notified"), untold, delays.count + untold);
    }
    Ok(())
}
