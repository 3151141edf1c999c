//! Tcp: up when the connection opens.

use wakeful_core::monitors::spec::TcpSpec;

use super::TargetAnswer;
use crate::net::error::ProbeError;
use crate::net::{Deadline, Net, Trace};

pub(super) async fn check(
    net: &Net,
    spec: &TcpSpec,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let stream = net.connect_to(spec.hostname.host().into(), spec.port, deadline, trace).await?;
    let peer = stream.peer_addr().map_err(|error| ProbeError::from_io(&error))?;
    Ok(TargetAnswer::up(format!("connected to {peer}")))
}
