//! Why a target was not reached: either the error says something about the
//! target, or the cause is on our side and says nothing about it.

use std::io;
use std::net::IpAddr;
use wakeful_core::observation::{Contact, Fault, FaultKind};
use wakeful_core::reason::Reason;

use super::guard::Denied;
use super::routes;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeError {
    /// The target is down: what was received from it, why, and the message for people.
    Down(Contact, Reason, String),
    /// The check could not be performed.
    Fault(Fault),
}

impl ProbeError {
    pub(crate) fn answered(reason: Reason, message: impl Into<String>) -> Self {
        Self::Down(Contact::Answered, reason, message.into())
    }

    pub(crate) fn fault(kind: FaultKind, message: impl AsRef<str>) -> Self {
        Self::Fault(Fault::new(kind, message))
    }

    pub(crate) fn no_answer() -> Self {
        Self::Down(Contact::Silence, Reason::NoReply, "no answer".to_owned())
    }

    /// The message for people.
    pub fn message(&self) -> &str {
        match self {
            Self::Down(_, _, message) => message,
            Self::Fault(fault) => &fault.message,
        }
    }

    /// An error on the way to this address. It is ours if this machine has no network for it.
    pub(crate) fn on_the_way_to(to: IpAddr, error: &io::Error) -> Self {
        match routes::missing_network(error, to) {
            Some(message) => Self::fault(FaultKind::Network, message),
            None => Self::from_io(error),
        }
    }

    pub(crate) fn from_io(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        let down = |contact, reason, message: &str| Self::Down(contact, reason, message.to_owned());
        match error.kind() {
            Kind::ConnectionRefused => {
                down(Contact::Refused, Reason::ConnectRefused, "connection refused")
            }
            Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => {
                down(Contact::Refused, Reason::ConnectReset, "connection reset by the server")
            }
            Kind::TimedOut => down(Contact::Silence, Reason::ConnectTimeout, "no answer"),
            Kind::HostUnreachable => {
                down(Contact::Unreachable, Reason::Unreachable, "no route to the host")
            }
            Kind::NetworkUnreachable => {
                down(Contact::Unreachable, Reason::Unreachable, "network unreachable")
            }
            Kind::UnexpectedEof => {
                down(Contact::Answered, Reason::ConnectReset, "the server closed the connection")
            }
            Kind::NetworkDown => Self::fault(FaultKind::Network, "our own network is down"),
            Kind::PermissionDenied => Self::fault(
                FaultKind::Permission,
                "this machine does not allow Wakeful to open the connection (firewall or sandbox)",
            ),
            Kind::AddrNotAvailable | Kind::AddrInUse => {
                Self::fault(FaultKind::Resources, "out of local ports or addresses")
            }
            Kind::OutOfMemory => Self::fault(FaultKind::Resources, "out of memory"),
            _ if error.raw_os_error().is_some() => Self::from_os(error),
            // Not from the operating system but from a protocol, about the
            // target's data.
            _ => Self::answered(Reason::Protocol, error.to_string()),
        }
    }

    /// Errors that the standard library does not classify.
    fn from_os(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Self::fault(
                FaultKind::Resources,
                "out of file descriptors: raise the limit on open files (ulimit -n)",
            ),
            Some(libc::ENOBUFS | libc::ENOMEM) => {
                Self::fault(FaultKind::Resources, "out of memory for sockets")
            }
            Some(libc::EAFNOSUPPORT) => {
                Self::fault(FaultKind::Network, "this node has no network of this address family")
            }
            _ => Self::fault(FaultKind::Internal, error.to_string()),
        }
    }

    /// Of two attempts at one target, the more specific error: a refusal comes
    /// from the target itself, while an error on our side says nothing about
    /// it. That we have no network for one of its addresses does not count if
    /// another one was tried.
    pub(crate) fn or_more_specific(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.specificity() > self.specificity() => other,
            _ => self,
        }
    }

    fn specificity(&self) -> u8 {
        match self {
            Self::Down(Contact::Answered | Contact::Refused, ..) => 4,
            Self::Fault(fault) if fault.kind == FaultKind::Network => 0,
            Self::Fault(_) => 3,
            Self::Down(Contact::Silence, ..) => 2,
            Self::Down(Contact::Unreachable, ..) => 1,
        }
    }
}

impl From<Denied> for ProbeError {
    fn from(denied: Denied) -> Self {
        Self::fault(FaultKind::Egress, denied.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errno: i32) -> ProbeError {
        ProbeError::from_io(&io::Error::from_raw_os_error(errno))
    }

    #[test]
    fn errors_caused_by_the_target_are_observations() {
        for (errno, contact, reason) in [
            (libc::ECONNREFUSED, Contact::Refused, Reason::ConnectRefused),
            (libc::ECONNRESET, Contact::Refused, Reason::ConnectReset),
            (libc::EPIPE, Contact::Refused, Reason::ConnectReset),
            (libc::ETIMEDOUT, Contact::Silence, Reason::ConnectTimeout),
            (libc::EHOSTUNREACH, Contact::Unreachable, Reason::Unreachable),
            (libc::ENETUNREACH, Contact::Unreachable, Reason::Unreachable),
        ] {
            let ProbeError::Down(seen, why, _) = of(errno) else { panic!("{errno} is a fault") };
            assert_eq!((seen, why), (contact, reason), "{errno}");
        }
    }

    #[test]
    fn errors_on_our_side_are_faults() {
        for (errno, kind) in [
            (libc::EMFILE, FaultKind::Resources),
            (libc::ENFILE, FaultKind::Resources),
            (libc::ENOBUFS, FaultKind::Resources),
            (libc::ENOMEM, FaultKind::Resources),
            (libc::EADDRNOTAVAIL, FaultKind::Resources),
            (libc::EACCES, FaultKind::Permission),
            (libc::EPERM, FaultKind::Permission),
            (libc::ENETDOWN, FaultKind::Network),
            (libc::EAFNOSUPPORT, FaultKind::Network),
            (libc::EINVAL, FaultKind::Internal),
        ] {
            assert!(matches!(of(errno), ProbeError::Fault(fault) if fault.kind == kind), "{errno}");
        }
    }

    #[test]
    fn of_two_attempts_the_more_specific_error_counts() {
        let (refused, unreachable) = (of(libc::ECONNREFUSED), of(libc::ENETUNREACH));
        assert_eq!(unreachable.clone().or_more_specific(Some(refused.clone())), refused);
        assert_eq!(refused.clone().or_more_specific(Some(of(libc::EMFILE))), refused);
        assert_eq!(of(libc::ETIMEDOUT).or_more_specific(Some(of(libc::EMFILE))), of(libc::EMFILE));
        assert_eq!(unreachable.clone().or_more_specific(None), unreachable);
        let no_family = of(libc::EAFNOSUPPORT);
        assert_eq!(no_family.clone().or_more_specific(Some(unreachable.clone())), unreachable);
        assert_eq!(unreachable.clone().or_more_specific(Some(no_family)), unreachable);
    }
}
