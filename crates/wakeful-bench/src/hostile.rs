//! The memory of hostile targets: 512 checks at a time read JSON that is expensive to parse, and
//! text that is expensive to search.

use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

use crate::documents;
use crate::paced::WARM_UP;
use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::target::Target;
use crate::{Outcome, Run};

const CHECKS: u32 = 512;
const DOCUMENT_BYTES: usize = 1 << 20;
const WINDOW: Duration = Duration::from_secs(20);
const MAX_MEBIBYTES: f64 = 96.0;

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("hostile: {CHECKS} checks of JSON and patterns");
    let service = Service::start(run, target, &MonitorSet::paced(1, 20, target.http)).await?;
    // Small values make the largest tree; half of the bytes that a tree may have.
    let tree = format!("[{}0]", "{\"a\":[]},".repeat(DOCUMENT_BYTES / 2 / 10));
    let (json_port, _trees) = documents::serve(tree).await?;
    let (text_port, _texts) = documents::serve("a".repeat(DOCUMENT_BYTES)).await?;
    sleep(WARM_UP).await;
    let idle = service.resident()?;
    for number in 0..CHECKS {
        let (port, assertion) = match number % 2 {
            0 => (json_port, path(number)),
            _ => (text_port, pattern(number)),
        };
        // Of different hosts, so that they do not wait for each other.
        let host = format!("127.1.{}.{}", number / 250, number % 250 + 1);
        let body = json!({"name": format!("hostile {number}"), "type": "http",
            "heartbeat_interval": 2, "timeout": 2, "isactive": true, "upside_down_mode": false,
            "http": {"url": format!("http://{host}:{port}/")}, "assertions": [assertion]});
        service.post("monitor/save", &body).await?;
    }
    sleep(WINDOW).await;
    let above = service.peak()?.saturating_sub(idle) as f64 / f64::from(1 << 20);
    let name = format!("hostile, {CHECKS} checks: memory above idle, MiB");
    report.at_most(&name, above, MAX_MEBIBYTES);
    service.stop().await
}

/// A path that needs a tree.
fn path(number: u32) -> Value {
    json!({"source": "json", "property": format!("$..a[{number}]"), "comparison": "not_exists"})
}

/// A pattern with many states. Each is another one, so that none is cached.
fn pattern(number: u32) -> Value {
    json!({"source": "body", "comparison": "not_matches",
        "target": format!("(a|b|ab){{1,60}}c{number}$")})
}
