//! Large documents: how punctual a thousand monitors are while a hundred others read and judge a
//! mebibyte of JSON each second.

use serde_json::json;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::paced::{self, WARM_UP};
use crate::report::Report;
use crate::seed::MonitorSet;
use crate::service::Service;
use crate::target::Target;
use crate::{Outcome, Run};

const MONITORS: u32 = 1_000;
const READERS: u32 = 100;
const DOCUMENT_BYTES: usize = 1 << 20;

pub async fn measure(run: &Run, target: &Target, report: &mut Report) -> Outcome<()> {
    println!("on time: {MONITORS} monitors while {READERS} others read documents");
    let baseline = paced::baseline(target, MONITORS, run.window()).await?;
    let monitors = MonitorSet::paced(MONITORS, paced::INTERVAL, target.http);
    let service = Service::start(run, target, &monitors).await?;
    let filler = "{\"x\":[1,2,3]},".repeat(DOCUMENT_BYTES / 14 - 8);
    let (port, _serving) = serve(format!("{{\"list\":[{filler}0],\"a\":{{\"b\":7}}}}")).await?;
    for number in 0..READERS {
        let body = json!({"name": format!("document {number}"), "type": "http",
            "heartbeat_interval": 1, "isactive": true, "upside_down_mode": false,
            "http": {"url": format!("http://127.0.0.{}:{port}/", number + 1)},
            "assertions": [{"source": "json", "property": "$.a.b", "comparison": "less_than",
                "target": 8}]});
        service.post("monitor/save", &body).await?;
    }
    sleep(WARM_UP).await;
    let busy = paced::measure_window(target, MONITORS, run.window(), || service.cpu()).await?;
    let name = format!("on time, {READERS} monitors read 1 MiB of JSON each second: deviation");
    paced::deviation(report, &name, &busy.punctuality, &baseline);
    service.stop().await
}

/// A server of one document, on all addresses of loopback.
pub async fn serve(body: String) -> Outcome<(u16, JoinSet<()>)> {
    let listener = TcpListener::bind("0.0.0.0:0").await?;
    let port = listener.local_addr()?.port();
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let answer: Arc<[u8]> = answer.into_bytes().into();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut serving = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let answer = answer.clone();
            // A client that disconnects is not a failure.
            serving.spawn(async move { drop(respond(stream, &answer).await) });
            while serving.try_join_next().is_some() {}
        }
    });
    Ok((port, tasks))
}

async fn respond(mut stream: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    let _ = stream.read(&mut [0; 1_024]).await?;
    stream.write_all(answer).await?;
    stream.shutdown().await
}
