//! Why a target was not reached, sorted once and for all: what the trouble says
//! about the target, or that it is ours and says nothing.

use std::io;
use wakeful_core::observation::{Evidence, Fault, FaultKind};

use super::guard::Denied;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The target is down; the evidence says what was heard of it.
    Down(Evidence, String),
    /// We could not look.
    Ours(Fault),
}

impl Trouble {
    pub(crate) fn answered(message: impl Into<String>) -> Self {
        Self::Down(Evidence::Answered, message.into())
    }

    pub(crate) fn ours(kind: FaultKind, message: impl AsRef<str>) -> Self {
        Self::Ours(Fault::new(kind, message))
    }

    pub(crate) fn silence() -> Self {
        Self::Down(Evidence::Silence, "no answer".to_owned())
    }

    /// The message for people.
    pub fn message(&self) -> &str {
        match self {
            Self::Down(_, message) => message,
            Self::Ours(fault) => &fault.message,
        }
    }

    pub(crate) fn from_io(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        let down = |evidence, message: &str| Self::Down(evidence, message.to_owned());
        match error.kind() {
            Kind::ConnectionRefused => down(Evidence::Refused, "connection refused"),
            Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => {
                down(Evidence::Refused, "connection reset by the server")
            }
            Kind::TimedOut => down(Evidence::Silence, "no answer"),
            Kind::HostUnreachable => down(Evidence::Unreachable, "no route to the host"),
            Kind::NetworkUnreachable => down(Evidence::Unreachable, "network unreachable"),
            Kind::UnexpectedEof => down(Evidence::Answered, "the server closed the connection"),
            Kind::NetworkDown => Self::ours(FaultKind::Network, "our own network is down"),
            Kind::PermissionDenied => Self::ours(
                FaultKind::Permission,
                "this machine does not let Wakeful open the connection (firewall or sandbox)",
            ),
            Kind::AddrNotAvailable | Kind::AddrInUse => {
                Self::ours(FaultKind::Resources, "out of local ports or addresses")
            }
            Kind::OutOfMemory => Self::ours(FaultKind::Resources, "out of memory"),
            _ if error.raw_os_error().is_some() => Self::from_os(error),
            // Not the system's word but a protocol's, about what the target sent.
            _ => Self::answered(error.to_string()),
        }
    }

    /// What the standard library has no word for.
    fn from_os(error: &io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Self::ours(
                FaultKind::Resources,
                "out of file handles: raise the limit of open files (ulimit -n)",
            ),
            Some(libc::ENOBUFS | libc::ENOMEM) => {
                Self::ours(FaultKind::Resources, "out of memory for sockets")
            }
            Some(libc::EAFNOSUPPORT) => Self::Down(
                Evidence::Unreachable,
                "this machine has no network of that kind (IPv6)".to_owned(),
            ),
            _ => Self::ours(FaultKind::Internal, error.to_string()),
        }
    }

    /// Of two attempts at one target, the trouble that tells more: a refusal is
    /// the target's own word, our own trouble leaves the rest open.
    pub(crate) fn or_more_telling(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.weight() > self.weight() => other,
            _ => self,
        }
    }

    fn weight(&self) -> u8 {
        match self {
            Self::Down(Evidence::Answered | Evidence::Refused, _) => 3,
            Self::Ours(_) => 2,
            Self::Down(Evidence::Silence, _) => 1,
            Self::Down(Evidence::Unreachable, _) => 0,
        }
    }
}

impl From<Denied> for Trouble {
    fn from(denied: Denied) -> Self {
        Self::ours(FaultKind::Egress, denied.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(errno: i32) -> Trouble {
        Trouble::from_io(&io::Error::from_raw_os_error(errno))
    }

    #[test]
    fn what_the_target_did_is_an_observation() {
        for (errno, evidence) in [
            (libc::ECONNREFUSED, Evidence::Refused),
            (libc::ECONNRESET, Evidence::Refused),
            (libc::EPIPE, Evidence::Refused),
            (libc::ETIMEDOUT, Evidence::Silence),
            (libc::EHOSTUNREACH, Evidence::Unreachable),
            (libc::ENETUNREACH, Evidence::Unreachable),
            (libc::EAFNOSUPPORT, Evidence::Unreachable),
        ] {
            assert!(matches!(of(errno), Trouble::Down(seen, _) if seen == evidence), "{errno}");
        }
    }

    #[test]
    fn what_failed_here_is_our_fault() {
        for (errno, kind) in [
            (libc::EMFILE, FaultKind::Resources),
            (libc::ENFILE, FaultKind::Resources),
            (libc::ENOBUFS, FaultKind::Resources),
            (libc::ENOMEM, FaultKind::Resources),
            (libc::EADDRNOTAVAIL, FaultKind::Resources),
            (libc::EACCES, FaultKind::Permission),
            (libc::EPERM, FaultKind::Permission),
            (libc::ENETDOWN, FaultKind::Network),
            (libc::EINVAL, FaultKind::Internal),
        ] {
            assert!(matches!(of(errno), Trouble::Ours(fault) if fault.kind == kind), "{errno}");
        }
    }

    #[test]
    fn of_two_attempts_the_more_telling_one_counts() {
        let (refused, unreachable) = (of(libc::ECONNREFUSED), of(libc::ENETUNREACH));
        assert_eq!(unreachable.clone().or_more_telling(Some(refused.clone())), refused);
        assert_eq!(refused.clone().or_more_telling(Some(of(libc::EMFILE))), refused);
        assert_eq!(of(libc::ETIMEDOUT).or_more_telling(Some(of(libc::EMFILE))), of(libc::EMFILE));
        assert_eq!(unreachable.clone().or_more_telling(None), unreachable);
    }
}
