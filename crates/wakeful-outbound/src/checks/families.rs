//! A check over IPv4 and over IPv6: a target that fails over one of them is degraded.

use wakeful_core::monitors::spec::IpFamily;
use wakeful_core::observation::{Fault, Observation, Warning};
use wakeful_core::reason::Reason;

use super::{CheckRequest, check_over};
use crate::net::{Deadline, Net};

pub(super) async fn check_both(
    net: &Net,
    request: &CheckRequest<'_>,
    deadline: Deadline,
) -> Result<Observation, Fault> {
    let (v4, v6) = tokio::join!(
        check_over(net, request, IpFamily::V4, deadline),
        check_over(net, request, IpFamily::V6, deadline)
    );
    Ok(combined(v4?, v6?))
}

/// The slower of two that are up; one that is down is a warning.
fn combined(v4: Observation, v6: Observation) -> Observation {
    let (up, down, name) = match (v4.up, v6.up) {
        (true, true) => {
            let (slow, fast) = if v4.load_time >= v6.load_time { (v4, v6) } else { (v6, v4) };
            if !slow.warnings.is_empty() {
                return slow;
            }
            let evidence = slow.evidence.or(fast.evidence);
            return Observation { warnings: fast.warnings, evidence, ..slow };
        }
        (false, false) => return v4,
        (true, false) => (v4, v6, "IPv6"),
        (false, true) => (v6, v4, "IPv4"),
    };
    let words = format!("failing over {name}: {}", down.message);
    let mut warnings = vec![Warning { reason: Reason::PartialFamily, words }];
    warnings.extend(up.warnings.iter().cloned());
    Observation { warnings, evidence: down.evidence.or(up.evidence), ..up }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use wakeful_core::observation::Contact;

    #[test]
    fn a_failure_of_one_family_is_a_warning() {
        let up = |millis| Observation::up(Duration::from_millis(millis), "200 OK");
        let down = || Observation::down(Contact::Refused, Reason::ConnectRefused, "refused");
        let both = combined(up(1), up(2));
        assert_eq!((both.up, both.load_time), (true, Some(Duration::from_millis(2))));
        assert!(both.warnings.is_empty());
        for (v4, v6, words) in [
            (up(1), down(), "failing over IPv6: refused"),
            (down(), up(1), "failing over IPv4: refused"),
        ] {
            let seen = combined(v4, v6);
            assert!(seen.up);
            let warning = Warning { reason: Reason::PartialFamily, words: words.to_owned() };
            assert_eq!(seen.warnings, [warning]);
        }
        assert_eq!(combined(down(), down()).reason, Some(Reason::ConnectRefused));
    }
}
