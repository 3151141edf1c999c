//! The rows about regions: probes in three regions, and one of an earlier version in a fourth.

use data_encoding::BASE64;
use serde_json::json;
use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinSet;
use wakeful_core::seal::Key;
use wakeful_testkit::{Client, NatsServer, until};

use super::peers::{Peers, Site};
use super::{Degraded, Down, Row, Unknown, asserting, http, row, with};
use crate::probes::KEY;
use crate::process::{Installation, Probe};

const REGIONS: [&str; 3] = ["north", "east", "south"];
const OLD: &str = "old";

pub(super) fn rows(peers: &Peers) -> Vec<Row> {
    let failing =
        |regions: &str| http(format!("http://regions.test:{}/regions/{regions}", peers.http.port));
    let status = json!({"source": "status", "comparison": "equals", "target": 200});
    let all = json!({"regions": REGIONS.join(","), "quorum": "majority",
        "degraded": {"regions": 1}});
    // The others have no probe.
    let alone = json!({"regions": "north,nowhere,elsewhere", "quorum": "majority"});
    let old = asserting(format!("http://good.test:{}/ok", peers.http.port), status);
    vec![
        row(
            "one of three regions",
            with(failing("north"), all.clone()),
            Degraded("partial_regions"),
        ),
        row("two of three regions", with(failing("north+east"), all), Down("http_status")),
        row("one region, two cannot check", with(failing("north"), alone), Unknown),
        row("an old probe", with(old, json!({"regions": OLD})), Unknown),
    ]
}

/// The installation with a bus for probes.
pub(super) async fn connected(installation: Installation) -> (Installation, NatsServer) {
    let nats = NatsServer::start().await;
    (installation.set("NATS_URL", &nats.url()).set("CLUSTER_KEY", KEY), nats)
}

/// The probes, which end with the test.
pub(super) struct Probes {
    _probes: Vec<Probe>,
    _old: JoinSet<()>,
}

impl Probes {
    pub(super) async fn start(
        installation: &Installation,
        nats: &NatsServer,
        client: &Client,
        site: &Site,
    ) -> Self {
        let probes: Vec<Probe> =
            REGIONS.iter().map(|region| installation.probe(region, region, &[])).collect();
        let regions = probes.iter().map(|probe| probe.pid).zip(REGIONS);
        site.set_regions(regions.collect::<HashMap<u32, &'static str>>());
        let bus = async_nats::connect(nats.url()).await.unwrap();
        let mut old = JoinSet::new();
        old.spawn(announce_old_probe(bus));
        for region in REGIONS.iter().chain([&OLD]) {
            until(&format!("a probe in {region}"), || async {
                let regions = client.get("regions").await.ok()["regions"].clone();
                let mut regions = regions.as_array().unwrap().iter();
                let found = regions.find(|one| one["region"] == *region);
                found.is_some_and(|one| one["live"] == 1).then_some(())
            })
            .await;
        }
        Self { _probes: probes, _old: old }
    }
}

/// Says hello as a probe did that did not know assertions.
#[expect(clippy::disallowed_methods, reason = "the time of the machine is that of the probe")]
async fn announce_old_probe(bus: async_nats::Client) {
    let cluster: [u8; 32] = BASE64.decode(KEY.as_bytes()).unwrap().try_into().unwrap();
    let key = Key::new(cluster).derive(&format!("wakeful probe {OLD} {OLD}"));
    let mut ticks = tokio::time::interval(Duration::from_secs(2));
    for count in 1_u64.. {
        ticks.tick().await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
        let hello = json!({"version": "0.1.0", "at": u64::try_from(now).unwrap(), "since": 0,
            "lag": 0, "leaves": false});
        let mut nonce = [0; 24];
        nonce[..8].copy_from_slice(&count.to_be_bytes());
        let sealed = key.seal(nonce, &format!("hello {OLD} {OLD}"), hello.to_string().as_bytes());
        let message = [&[1][..], &sealed].concat();
        bus.publish(format!("wakeful.hello.{OLD}.{OLD}"), message.into()).await.unwrap();
        bus.flush().await.unwrap();
    }
}
