//! Why a check did not pass, as a word that programs can rely on. It is reported with alerts and
//! on-demand checks, and is never stored in a heartbeat.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::named_enum;

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Reason {
        /// The name does not exist.
        DnsNxdomain = "dns_nxdomain",
        /// The name has no address.
        DnsNoAddress = "dns_no_address",
        /// The name servers failed.
        DnsServfail = "dns_servfail",
        /// The name servers refused the query.
        DnsRefused = "dns_refused",
        /// The query of a dns monitor returned no record of its type.
        DnsNoRecords = "dns_no_records",
        /// The query of a dns monitor returned another answer than expected.
        DnsAnswer = "dns_answer",
        /// The answer is not signed as expected.
        Dnssec = "dnssec",
        ConnectRefused = "connect_refused",
        ConnectReset = "connect_reset",
        ConnectTimeout = "connect_timeout",
        /// There is no route to the target.
        Unreachable = "unreachable",
        /// No reply to a ping, or to a datagram.
        NoReply = "no_reply",
        PacketLoss = "packet_loss",
        /// The proxy reports that the target is unreachable.
        Proxy = "proxy",
        TlsHandshake = "tls_handshake",
        TlsVersion = "tls_version",
        TlsTimeout = "tls_timeout",
        TlsUntrusted = "tls_untrusted",
        TlsSelfSigned = "tls_self_signed",
        TlsExpired = "tls_expired",
        TlsNotYetValid = "tls_not_yet_valid",
        /// The certificate is for another name.
        TlsName = "tls_name",
        /// The server requires a client certificate.
        TlsClientCertificate = "tls_client_certificate",
        CertificateExpiring = "certificate_expiring",
        CertificateChanged = "certificate_changed",
        /// The status code is not accepted.
        HttpStatus = "http_status",
        HttpRedirects = "http_redirects",
        /// The response is not valid HTTP.
        HttpInvalid = "http_invalid",
        /// The response ended too early.
        HttpIncomplete = "http_incomplete",
        HttpVersion = "http_version",
        TimeoutFirstByte = "timeout_first_byte",
        TimeoutBody = "timeout_body",
        /// The keyword is missing.
        Keyword = "keyword",
        /// The credentials were not accepted.
        Auth = "auth",
        /// The peer does not speak the protocol of the check type.
        Protocol = "protocol",
        /// An assertion failed.
        Assertion = "assertion",
        Slow = "slow",
        /// Slower than the checks of the last week.
        SlowerThanUsual = "slower_than_usual",
        /// The target fails in some regions, although the quorum is not reached.
        PartialRegions = "partial_regions",
        /// The target fails over one of IPv4 and IPv6.
        PartialFamily = "partial_family",
        /// A value differs from the one before.
        Changed = "changed",
        /// A monitor that the status of this one follows from is down.
        Members = "members",
        /// An api monitor received no report in time.
        Missed = "missed",
        /// The target reported that it is down or degraded.
        Reported = "reported",
        /// The job ended with a code other than 0.
        ExitCode = "exit_code",
        /// The job started, and did not end in time.
        Runtime = "runtime",
        DomainExpired = "domain_expired",
        DomainExpiring = "domain_expiring",
        /// The registry has taken the domain out of the DNS.
        DomainHold = "domain_hold",
        DomainUnregistered = "domain_unregistered",
        /// A reason that a newer version knows.
        Other = "other",
    }
}

impl Reason {
    /// Reads a reason as stored or sent; those of newer versions are `Other`.
    pub fn parse(text: &str) -> Self {
        Self::ALL.iter().copied().find(|reason| reason.as_str() == text).unwrap_or(Self::Other)
    }
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self::parse(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_read_back_and_an_unknown_one_is_other() {
        for reason in Reason::ALL {
            let text = serde_json::to_string(reason).expect("serializes");
            assert_eq!(serde_json::from_str::<Reason>(&text).expect("reads"), *reason);
        }
        assert_eq!(serde_json::from_str::<Reason>("\"warp\"").expect("reads"), Reason::Other);
    }
}
