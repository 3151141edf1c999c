//! Tcp: up when the connection opens.

use wakeful_core::monitor::spec::TcpSpec;

use super::Seen;
use crate::net::trouble::Trouble;
use crate::net::{Deadline, Net, Trace};

pub(super) async fn look(
    net: &Net,
    spec: &TcpSpec,
    by: Deadline,
    trace: &mut Trace,
) -> Result<Seen, Trouble> {
    let stream = net.reach(spec.hostname.host().into(), spec.port, by, trace).await?;
    let peer = stream.peer_addr().map_err(|error| Trouble::from_io(&error))?;
    Ok(Seen::up(format!("connected to {peer}")))
}
