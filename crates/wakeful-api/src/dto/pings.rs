//! The pings of jobs, and the ping key of a team.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_engine::StoredPing;

use super::enums::PingType;
use super::monitors::response::millis;

#[derive(Serialize, ToSchema)]
pub(crate) struct PingList {
    success: bool,
    pings: Vec<PingBody>,
}

impl PingList {
    pub(crate) fn of(pings: Vec<StoredPing>) -> Self {
        Self { success: true, pings: pings.into_iter().map(PingBody::of).collect() }
    }
}

#[derive(Serialize, ToSchema)]
#[schema(as = Ping)]
pub(crate) struct PingBody {
    /// Counts the pings of the monitor.
    n: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Millis,
    /// ign if it was ignored.
    #[schema(value_type = PingType)]
    r#type: &'static str,
    exit_code: Option<u8>,
    /// The id of the run.
    #[schema(value_type = Option<String>, format = Uuid)]
    rid: Option<Uuid>,
    method: String,
    scheme: String,
    /// The address it came from.
    client: String,
    /// The User-Agent of the client.
    agent: String,
    /// Milliseconds of the run that it ended.
    duration: Option<f64>,
    /// The length of the stored body.
    bytes: u64,
}

impl PingBody {
    fn of(ping: StoredPing) -> Self {
        let StoredPing {
            n,
            at,
            kind,
            exit_code,
            rid,
            method,
            scheme,
            client,
            agent,
            duration,
            bytes,
        } = ping;
        let (r#type, duration) = (kind.as_str(), duration.map(millis));
        Self { n, at, r#type, exit_code, rid, method, scheme, client, agent, duration, bytes }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PingKey {
    success: bool,
    ping_key: String,
    /// Followed by / and a slug, the URL of a ping.
    ping_url: String,
}

impl PingKey {
    pub(crate) fn of(public_url: &str, key: &Secret) -> Self {
        Self {
            success: true,
            ping_key: key.expose().to_owned(),
            ping_url: format!("{public_url}/ping/{}", key.expose()),
        }
    }
}
