//! The signature of a callback: `t=SECONDS,v1=HEX` over the time, a dot and the
//! body, by HMAC-SHA256 with a secret shared with the processor.

use data_encoding::HEXLOWER_PERMISSIVE;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use std::time::Duration;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

/// How far the time of a callback may be from ours: older ones are replays.
const TOLERANCE: Duration = Duration::from_secs(300);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the callback's signature is missing, invalid or too old")]
pub struct BadSignature;

pub(super) fn verify(
    secret: &Secret,
    header: &str,
    body: &[u8],
    now: Millis,
) -> Result<(), BadSignature> {
    let values = |name: &'static str| {
        header.split(',').filter_map(move |part| {
            let (key, value) = part.split_once('=')?;
            (key.trim() == name).then_some(value.trim())
        })
    };
    let time = values("t").next().ok_or(BadSignature)?;
    let seconds: i64 = time.parse().map_err(|_| BadSignature)?;
    let sent = Millis(seconds.saturating_mul(1_000));
    if now.since(sent) > TOLERANCE || sent.since(now) > TOLERANCE || secret.expose().is_empty() {
        return Err(BadSignature);
    }
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()).map_err(|_| BadSignature)?;
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body);
    // Several while a secret is being rotated; compared in constant time.
    let verified = values("v1").any(|hex| {
        HEXLOWER_PERMISSIVE
            .decode(hex.as_bytes())
            .is_ok_and(|given| mac.clone().verify_slice(&given).is_ok())
    });
    if verified { Ok(()) } else { Err(BadSignature) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_794_735_000_000);

    fn signed(secret: &str, seconds: i64, body: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length");
        mac.update(format!("{seconds}.{body}").as_bytes());
        let hex = data_encoding::HEXLOWER.encode(&mac.finalize().into_bytes());
        format!("t={seconds},v1={hex}")
    }

    fn verified(header: &str, body: &str) -> bool {
        verify(&Secret::new("whsec_x"), header, body.as_bytes(), NOW).is_ok()
    }

    #[test]
    fn a_recent_signature_with_our_secret_is_accepted() {
        let now = NOW.0 / 1000;
        assert!(verified(&signed("whsec_x", now, "{}"), "{}"));
        assert!(verified(&signed("whsec_x", now - 300, "{}"), "{}"));
        let (t, v1) = (format!("t={now}"), signed("whsec_x", now, "{}"));
        let v1 = v1.split_once(',').expect("two parts").1.to_owned();
        assert!(verified(&format!("{t}, v0=aa, v1=00, {v1}"), "{}"));
    }

    #[test]
    fn another_secret_body_or_time_is_rejected() {
        let now = NOW.0 / 1000;
        assert!(!verified(&signed("whsec_y", now, "{}"), "{}"));
        assert!(!verified(&signed("whsec_x", now, "{}"), "{ }"));
        assert!(!verified(&signed("whsec_x", now - 301, "{}"), "{}"));
        assert!(!verified(&signed("whsec_x", now + 301, "{}"), "{}"));
        for odd in [
            "",
            "t",
            "t=",
            "t=1",
            "v1=",
            "t=x,v1=00",
            "t=1794735000,v1=zz",
            "t=99999999999999999999,v1=00",
            "t=-1,v1=",
            ",,,",
            "====",
        ] {
            assert!(!verified(odd, "{}"), "{odd}");
        }
        let empty = signed("", now, "{}");
        assert!(verify(&Secret::new(""), &empty, b"{}", NOW).is_err());
    }
}
