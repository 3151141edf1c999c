//! Domain: up when the registration of the name has not expired and is not on hold, as its
//! registry reports it by RDAP. A registry that does not answer says nothing about the domain.

use wakeful_core::domain::candidates;
use wakeful_core::id::TeamId;
use wakeful_core::monitors::spec::{DomainSpec, Host, HttpUrl};
use wakeful_core::observation::FaultKind;
use wakeful_core::reason::Reason;

use super::TargetAnswer;
use crate::net::error::ProbeError;
use crate::net::rdap::RdapAnswer;
use crate::net::{Deadline, Net, Trace};

pub(super) async fn check(
    net: &Net,
    spec: &DomainSpec,
    team: TeamId,
    deadline: Deadline,
    trace: &mut Trace,
) -> Result<TargetAnswer, ProbeError> {
    let Host::Name(name) = spec.hostname.host() else {
        return Err(ProbeError::fault(FaultKind::Config, "an address is not registered"));
    };
    let name = name.trim_end_matches('.');
    let (zone, server) = match &spec.server {
        Some(server) => (String::new(), server.as_str().to_owned()),
        None => {
            let registries = net.rdap().registries(net, deadline, trace).await;
            let Some((zone, server)) = registries.server(name) else {
                let message = format!("the zone of {name} has no RDAP server");
                return Err(ProbeError::fault(FaultKind::Config, message));
            };
            (zone.to_owned(), server.to_owned())
        }
    };
    let server = HttpUrl::parse(&server).map_err(|_| {
        ProbeError::fault(FaultKind::Config, "the URL of the registry is not valid")
    })?;
    for candidate in candidates(name, &zone) {
        match net.rdap().query(net, server.url(), candidate, team, deadline, trace).await? {
            RdapAnswer::NotFound => {}
            RdapAnswer::Found(registration) => {
                let answer = match registration.judge(net.clock().now()) {
                    Ok(message) => TargetAnswer::up(message),
                    Err((reason, message)) => TargetAnswer::down(reason, message),
                };
                return Ok(TargetAnswer { domain: Some(registration), ..answer });
            }
        }
    }
    let message = format!("the name {name} is not registered");
    Ok(TargetAnswer::down(Reason::DomainUnregistered, message))
}
