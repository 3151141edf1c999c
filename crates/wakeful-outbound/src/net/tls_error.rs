//! What errors of TLS mean, in plain words. The texts of rustls contain the names of its types.

use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};
use webpki::Error as ChainError;

const NOT_ACCEPTED: &str = "certificate is not accepted";
const INVALID_DATA: &str = "certificate contains invalid data";
const UNKNOWN_EXTENSION: &str = "certificate has a critical extension that is not supported";
const UNKNOWN_ALGORITHM: &str = "certificate is signed with an algorithm that is not supported";
const WRONG_ALGORITHM: &str =
    "certificate is signed with an algorithm that does not fit the key of its issuer";
const WRONG_PURPOSE: &str = "certificate is not meant for servers";
const WRONG_NAME: &str = "certificate is not for this name";
const EXPIRED: &str = "a certificate in the chain has expired";
const NOT_VALID_YET: &str = "certificate is not valid yet";
const REVOKED: &str = "certificate is revoked";
const UNKNOWN_REVOCATION: &str = "it is not known whether the certificate is revoked";
const EXPIRED_REVOCATIONS: &str = "the revocation list of the certificate has expired";
const UNKNOWN_ISSUER: &str = "certificate is not signed by a trusted authority";
const UNREADABLE: &str = "certificate cannot be parsed";
const BAD_SIGNATURE: &str = "certificate has an invalid signature";

/// What is wrong with a certificate.
#[allow(deprecated, reason = "a verifier may still return the variants without details")]
pub(super) fn certificate_error(error: &CertificateError) -> &'static str {
    match error {
        CertificateError::BadEncoding => UNREADABLE,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => EXPIRED,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            NOT_VALID_YET
        }
        CertificateError::Revoked => REVOKED,
        CertificateError::UnhandledCriticalExtension => UNKNOWN_EXTENSION,
        CertificateError::UnknownIssuer => UNKNOWN_ISSUER,
        CertificateError::UnknownRevocationStatus => UNKNOWN_REVOCATION,
        CertificateError::ExpiredRevocationList
        | CertificateError::ExpiredRevocationListContext { .. } => EXPIRED_REVOCATIONS,
        CertificateError::BadSignature => BAD_SIGNATURE,
        CertificateError::UnsupportedSignatureAlgorithm
        | CertificateError::UnsupportedSignatureAlgorithmContext { .. } => UNKNOWN_ALGORITHM,
        CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            WRONG_ALGORITHM
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            WRONG_NAME
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            WRONG_PURPOSE
        }
        CertificateError::InvalidOcspResponse => {
            "the revocation status that was sent with the certificate is invalid"
        }
        CertificateError::Other(other) => {
            other.0.downcast_ref::<ChainError>().map_or(NOT_ACCEPTED, chain_error)
        }
        _ => NOT_ACCEPTED,
    }
}

/// The same for what rustls has no variants of its own for.
#[allow(deprecated, reason = "all variants are listed")]
fn chain_error(error: &ChainError) -> &'static str {
    match error {
        ChainError::CaUsedAsEndEntity => "certificate is that of an authority, not of a server",
        ChainError::EndEntityUsedAsCa => {
            "certificate is signed with a certificate that is not that of an authority"
        }
        ChainError::CertDistrusted => "a certificate in the chain is distrusted",
        ChainError::PathLenConstraintViolated => {
            "the chain of certificates is longer than one of its authorities allows"
        }
        ChainError::NameConstraintViolation => {
            "an authority in the chain may not issue certificates for this name"
        }
        ChainError::MaximumNameConstraintComparisonsExceeded
        | ChainError::MaximumPathBuildCallsExceeded
        | ChainError::MaximumPathDepthExceeded
        | ChainError::MaximumSignatureChecksExceeded => {
            "the chain of certificates is too long or too complex"
        }
        ChainError::SignatureAlgorithmMismatch => {
            "certificate contradicts itself about the algorithm of its signature"
        }
        ChainError::UnsupportedCertVersion => "certificate is not an X.509 certificate, version 3",
        ChainError::UnsupportedCriticalExtension => UNKNOWN_EXTENSION,
        ChainError::BadDer
        | ChainError::BadDerTime
        | ChainError::ExtensionValueInvalid
        | ChainError::InvalidCertValidity
        | ChainError::InvalidNetworkMaskConstraint
        | ChainError::InvalidSerialNumber
        | ChainError::MalformedDnsIdentifier
        | ChainError::MalformedExtensions
        | ChainError::MalformedNameConstraint
        | ChainError::TrailingData(_) => INVALID_DATA,
        ChainError::EmptyEkuExtension
        | ChainError::RequiredEkuNotFound
        | ChainError::RequiredEkuNotFoundContext(_) => WRONG_PURPOSE,
        ChainError::CertNotValidForName(_) | ChainError::UnsupportedNameType => WRONG_NAME,
        ChainError::CertExpired { .. } => EXPIRED,
        ChainError::CertNotValidYet { .. } => NOT_VALID_YET,
        ChainError::CertRevoked => REVOKED,
        ChainError::UnknownIssuer => UNKNOWN_ISSUER,
        ChainError::InvalidSignatureForPublicKey => BAD_SIGNATURE,
        ChainError::UnsupportedSignatureAlgorithm
        | ChainError::UnsupportedSignatureAlgorithmContext(_) => UNKNOWN_ALGORITHM,
        ChainError::UnsupportedSignatureAlgorithmForPublicKey
        | ChainError::UnsupportedSignatureAlgorithmForPublicKeyContext(_) => WRONG_ALGORITHM,
        ChainError::CrlExpired { .. } => EXPIRED_REVOCATIONS,
        ChainError::UnknownRevocationStatus
        | ChainError::InvalidCrlNumber
        | ChainError::InvalidCrlSignatureForPublicKey
        | ChainError::IssuerNotCrlSigner
        | ChainError::UnsupportedCrlIssuingDistributionPoint
        | ChainError::UnsupportedCrlSignatureAlgorithm
        | ChainError::UnsupportedCrlSignatureAlgorithmContext(_)
        | ChainError::UnsupportedCrlSignatureAlgorithmForPublicKey
        | ChainError::UnsupportedCrlSignatureAlgorithmForPublicKeyContext(_)
        | ChainError::UnsupportedCrlVersion
        | ChainError::UnsupportedDeltaCrl
        | ChainError::UnsupportedIndirectCrl
        | ChainError::UnsupportedRevocationReason
        | ChainError::UnsupportedRevocationReasonsPartitioning => UNKNOWN_REVOCATION,
        _ => NOT_ACCEPTED,
    }
}

/// Why a handshake or a connection failed.
pub(super) fn tls_error(error: &Error) -> &'static str {
    match error {
        Error::AlertReceived(received) => alert(*received),
        Error::InvalidCertificate(why) => certificate_error(why),
        Error::InvalidCertRevocationList(_) => UNKNOWN_REVOCATION,
        Error::NoCertificatesPresented => "the server presented no certificate",
        Error::UnsupportedNameType => WRONG_NAME,
        Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
            "the server sent a message that was not expected"
        }
        Error::InvalidMessage(_) => "the server sent an invalid message",
        Error::PeerSentOversizedRecord => "the server sent a message that is too large",
        Error::DecryptError => "a message of the server cannot be decrypted",
        Error::PeerMisbehaved(_) => "the server violated the protocol",
        Error::PeerIncompatible(PeerIncompatible::NoKxGroupsInCommon) => {
            "no key exchange in common with the server"
        }
        Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon) => {
            "no signature algorithm in common with the server"
        }
        Error::PeerIncompatible(_) => "the server lacks a feature that is required",
        Error::NoApplicationProtocol => "no application protocol in common with the server",
        _ => "the handshake cannot be completed",
    }
}

/// The name of an alert, as in RFC 8446, section 6, or in an earlier RFC, with spaces.
pub(super) fn alert(alert: AlertDescription) -> &'static str {
    match alert {
        AlertDescription::CloseNotify => "close notify",
        AlertDescription::UnexpectedMessage => "unexpected message",
        AlertDescription::BadRecordMac => "bad record mac",
        AlertDescription::DecryptionFailed => "decryption failed",
        AlertDescription::RecordOverflow => "record overflow",
        AlertDescription::DecompressionFailure => "decompression failure",
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::NoCertificate => "no certificate",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::UnsupportedCertificate => "unsupported certificate",
        AlertDescription::CertificateRevoked => "certificate revoked",
        AlertDescription::CertificateExpired => "certificate expired",
        AlertDescription::CertificateUnknown => "certificate unknown",
        AlertDescription::IllegalParameter => "illegal parameter",
        AlertDescription::UnknownCA => "unknown ca",
        AlertDescription::AccessDenied => "access denied",
        AlertDescription::DecodeError => "decode error",
        AlertDescription::DecryptError => "decrypt error",
        AlertDescription::ExportRestriction => "export restriction",
        AlertDescription::ProtocolVersion => "protocol version",
        AlertDescription::InsufficientSecurity => "insufficient security",
        AlertDescription::InternalError => "internal error",
        AlertDescription::InappropriateFallback => "inappropriate fallback",
        AlertDescription::UserCanceled => "user canceled",
        AlertDescription::NoRenegotiation => "no renegotiation",
        AlertDescription::MissingExtension => "missing extension",
        AlertDescription::UnsupportedExtension => "unsupported extension",
        AlertDescription::CertificateUnobtainable => "certificate unobtainable",
        AlertDescription::UnrecognisedName => "unrecognized name",
        AlertDescription::BadCertificateStatusResponse => "bad certificate status response",
        AlertDescription::BadCertificateHashValue => "bad certificate hash value",
        AlertDescription::UnknownPSKIdentity => "unknown psk identity",
        AlertDescription::CertificateRequired => "certificate required",
        AlertDescription::NoApplicationProtocol => "no application protocol",
        AlertDescription::EncryptedClientHelloRequired => "encrypted client hello required",
        _ => "unknown alert",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::{ServerName, UnixTime};
    use rustls::{
        CertRevocationListError, ContentType, EncryptedClientHelloError, ExtendedKeyPurpose,
        HandshakeType, InconsistentKeys, InvalidMessage, OtherError, PeerMisbehaved,
    };
    use std::io;
    use std::sync::Arc;
    use std::time::Duration;
    use webpki::{
        DerTypeId, InvalidNameContext, KeyUsage, RequiredEkuNotFoundContext,
        UnsupportedSignatureAlgorithmContext, UnsupportedSignatureAlgorithmForPublicKeyContext,
    };

    fn time() -> UnixTime {
        UnixTime::since_unix_epoch(Duration::from_secs(1))
    }

    fn name() -> ServerName<'static> {
        ServerName::try_from("a.example").expect("a name")
    }

    fn other() -> OtherError {
        OtherError(Arc::new(io::Error::other("Some(Text)")))
    }

    /// Words only: no names of types, and nothing that the other side has sent.
    fn assert_plain(text: &str) {
        assert!(text.len() > 5, "{text:?}");
        let is_usual = |c: char| c.is_ascii_alphanumeric() || " ,.".contains(c);
        assert!(text.chars().all(is_usual), "{text}");
        let chars: Vec<char> = text.chars().collect();
        let is_joined = |pair: &[char]| pair[0].is_lowercase() && pair[1].is_uppercase();
        assert!(!chars.windows(2).any(is_joined), "{text}");
    }

    #[allow(deprecated, reason = "all variants are tested")]
    fn certificate_errors() -> Vec<CertificateError> {
        let (time, name) = (time(), name());
        vec![
            CertificateError::BadEncoding,
            CertificateError::Expired,
            CertificateError::ExpiredContext { time, not_after: time },
            CertificateError::NotValidYet,
            CertificateError::NotValidYetContext { time, not_before: time },
            CertificateError::Revoked,
            CertificateError::UnhandledCriticalExtension,
            CertificateError::UnknownIssuer,
            CertificateError::UnknownRevocationStatus,
            CertificateError::ExpiredRevocationList,
            CertificateError::ExpiredRevocationListContext { time, next_update: time },
            CertificateError::BadSignature,
            CertificateError::UnsupportedSignatureAlgorithm,
            CertificateError::UnsupportedSignatureAlgorithmContext {
                signature_algorithm_id: Vec::new(),
                supported_algorithms: Vec::new(),
            },
            CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
                signature_algorithm_id: Vec::new(),
                public_key_algorithm_id: Vec::new(),
            },
            CertificateError::NotValidForName,
            CertificateError::NotValidForNameContext { expected: name, presented: Vec::new() },
            CertificateError::InvalidPurpose,
            CertificateError::InvalidPurposeContext {
                required: ExtendedKeyPurpose::ServerAuth,
                presented: Vec::new(),
            },
            CertificateError::InvalidOcspResponse,
        ]
    }

    #[allow(deprecated, reason = "all variants are tested")]
    fn chain_errors() -> Vec<ChainError> {
        let (time, name) = (time(), name());
        let algorithm = UnsupportedSignatureAlgorithmContext {
            signature_algorithm_id: Vec::new(),
            supported_algorithms: Vec::new(),
        };
        let key = UnsupportedSignatureAlgorithmForPublicKeyContext {
            signature_algorithm_id: Vec::new(),
            public_key_algorithm_id: Vec::new(),
        };
        let purpose =
            RequiredEkuNotFoundContext { required: KeyUsage::server_auth(), present: Vec::new() };
        vec![
            ChainError::BadDer,
            ChainError::BadDerTime,
            ChainError::CaUsedAsEndEntity,
            ChainError::CertDistrusted,
            ChainError::CertExpired { time, not_after: time },
            ChainError::CertNotValidForName(InvalidNameContext {
                expected: name,
                presented: Vec::new(),
            }),
            ChainError::CertNotValidYet { time, not_before: time },
            ChainError::CertRevoked,
            ChainError::CrlExpired { time, next_update: time },
            ChainError::EmptyEkuExtension,
            ChainError::EndEntityUsedAsCa,
            ChainError::ExtensionValueInvalid,
            ChainError::InvalidCertValidity,
            ChainError::InvalidCrlNumber,
            ChainError::InvalidNetworkMaskConstraint,
            ChainError::InvalidSerialNumber,
            ChainError::InvalidCrlSignatureForPublicKey,
            ChainError::InvalidSignatureForPublicKey,
            ChainError::IssuerNotCrlSigner,
            ChainError::MalformedDnsIdentifier,
            ChainError::MalformedExtensions,
            ChainError::MalformedNameConstraint,
            ChainError::MaximumNameConstraintComparisonsExceeded,
            ChainError::MaximumPathBuildCallsExceeded,
            ChainError::MaximumPathDepthExceeded,
            ChainError::MaximumSignatureChecksExceeded,
            ChainError::NameConstraintViolation,
            ChainError::PathLenConstraintViolated,
            ChainError::RequiredEkuNotFound,
            ChainError::RequiredEkuNotFoundContext(purpose),
            ChainError::SignatureAlgorithmMismatch,
            ChainError::TrailingData(DerTypeId::Certificate),
            ChainError::UnknownIssuer,
            ChainError::UnknownRevocationStatus,
            ChainError::UnsupportedCertVersion,
            ChainError::UnsupportedCriticalExtension,
            ChainError::UnsupportedCrlIssuingDistributionPoint,
            ChainError::UnsupportedCrlVersion,
            ChainError::UnsupportedDeltaCrl,
            ChainError::UnsupportedIndirectCrl,
            ChainError::UnsupportedNameType,
            ChainError::UnsupportedRevocationReason,
            ChainError::UnsupportedRevocationReasonsPartitioning,
            ChainError::UnsupportedCrlSignatureAlgorithm,
            ChainError::UnsupportedCrlSignatureAlgorithmContext(algorithm.clone()),
            ChainError::UnsupportedSignatureAlgorithm,
            ChainError::UnsupportedSignatureAlgorithmContext(algorithm),
            ChainError::UnsupportedCrlSignatureAlgorithmForPublicKey,
            ChainError::UnsupportedCrlSignatureAlgorithmForPublicKeyContext(key.clone()),
            ChainError::UnsupportedSignatureAlgorithmForPublicKey,
            ChainError::UnsupportedSignatureAlgorithmForPublicKeyContext(key),
        ]
    }

    #[test]
    fn every_error_of_a_certificate_is_explained() {
        let of_chains = chain_errors()
            .into_iter()
            .map(|error| CertificateError::Other(OtherError(Arc::new(error))));
        for error in certificate_errors().into_iter().chain(of_chains) {
            let text = certificate_error(&error);
            assert_plain(text);
            assert_ne!(text, NOT_ACCEPTED, "{error:?}");
        }
    }

    #[test]
    fn an_unknown_error_shows_nothing_of_its_own() {
        for error in
            [CertificateError::ApplicationVerificationFailure, CertificateError::Other(other())]
        {
            assert_eq!(certificate_error(&error), NOT_ACCEPTED);
        }
    }

    #[test]
    fn every_alert_has_a_name() {
        assert_eq!(alert(AlertDescription::UnknownCA), "unknown ca");
        assert_eq!(alert(AlertDescription::UnknownPSKIdentity), "unknown psk identity");
        for number in 0..=u8::MAX {
            let received = AlertDescription::from(number);
            let text = alert(received);
            assert_plain(text);
            let is_unknown = matches!(received, AlertDescription::Unknown(_));
            assert_eq!(text == "unknown alert", is_unknown, "{number}");
        }
    }

    #[test]
    fn errors_of_a_connection_are_plain() {
        for error in [
            Error::InappropriateMessage {
                expect_types: vec![ContentType::Handshake],
                got_type: ContentType::Alert,
            },
            Error::InappropriateHandshakeMessage {
                expect_types: vec![HandshakeType::Finished],
                got_type: HandshakeType::ClientHello,
            },
            Error::InvalidEncryptedClientHello(EncryptedClientHelloError::SniRequired),
            Error::InvalidMessage(InvalidMessage::MissingData("Random")),
            Error::NoCertificatesPresented,
            Error::UnsupportedNameType,
            Error::DecryptError,
            Error::EncryptError,
            Error::PeerIncompatible(PeerIncompatible::NoKxGroupsInCommon),
            Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon),
            Error::PeerIncompatible(PeerIncompatible::NullCompressionRequired),
            Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare),
            Error::AlertReceived(AlertDescription::InternalError),
            Error::InvalidCertificate(CertificateError::BadEncoding),
            Error::InvalidCertRevocationList(CertRevocationListError::ParseError),
            Error::General("Some(Text)".to_owned()),
            Error::FailedToGetCurrentTime,
            Error::FailedToGetRandomBytes,
            Error::HandshakeNotComplete,
            Error::PeerSentOversizedRecord,
            Error::NoApplicationProtocol,
            Error::BadMaxFragmentSize,
            Error::InconsistentKeys(InconsistentKeys::Unknown),
            Error::Other(other()),
        ] {
            assert_plain(tls_error(&error));
        }
    }
}
