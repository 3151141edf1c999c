//! Monitors of type ping.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::monitors::spec::{Echoes, Hostname, Kind, PingSpec, Spec};

use super::request::{hostname, optional_port};
use super::{SpecFields, connect};
use crate::dto::Fields;

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let hostname = hostname(fields, old);
    let port = optional_port(fields, old.filter(|old| old.kind() == Kind::Ping));
    let host = hostname.as_ref().map(Hostname::host);
    let connect = connect::read(fields, old, host);
    let old = match old {
        Some(Spec::Ping(ping)) => ping.echoes,
        _ => Echoes::default(),
    };
    let echoes = fields.within("ping", |fields| Echoes {
        count: fields.optional_number("count", Echoes::parse_count).unwrap_or(old.count),
        spacing: fields.optional_number("spacing", Echoes::parse_spacing).unwrap_or(old.spacing),
        size: fields.optional_number("size", Echoes::parse_size).unwrap_or(old.size),
    });
    hostname.map(|hostname| Spec::Ping(PingSpec { hostname, port, echoes, connect }))
}

/// The echoes of one check.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SavePing {
    /// 1 unless set.
    #[schema(minimum = 1, maximum = 20)]
    count: Option<u8>,
    /// Milliseconds between two of them; 200 unless set.
    #[schema(minimum = 20, maximum = 1000)]
    spacing: Option<u16>,
    /// The bytes that each carries; 16 unless set.
    #[schema(minimum = 16, maximum = 1400)]
    size: Option<u16>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = PingEchoes)]
pub(crate) struct PingBody {
    count: u8,
    spacing: u16,
    size: u16,
}

pub(super) fn show(ping: &PingSpec) -> SpecFields<'_> {
    SpecFields {
        hostname: Some(ping.hostname.as_str()),
        port: ping.port.map(|port| port.to_string()),
        ping: Some(PingBody {
            count: ping.echoes.count,
            spacing: ping.echoes.spacing,
            size: ping.echoes.size,
        }),
        ..SpecFields::default()
    }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![
        serde_json::json!({"type": "ping", "hostname": "127.0.0.1", "regions": "eu, us,,EU", "quorum": 2}),
        serde_json::json!({"type": "ping", "hostname": "127.0.0.1", "port": "80",
            "ping": {"count": 5, "size": 1400}, "slo": {"target": 99.9},
            "degraded": {"slow": 500, "factor": 1.25, "over": 1, "of": 1, "notify": false},
            "assertions": [{"source": "loss", "comparison": "at_most", "target": 20,
                "fails_as": "degraded", "chart": true}]}),
    ]
}
