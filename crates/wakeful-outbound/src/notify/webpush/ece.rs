//! Encryption of a push message: RFC 8291, with one record of `aes128gcm` (RFC 8188). The push
//! service that transports it cannot read it.

use aws_lc_rs::aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::agreement::{ECDH_P256, PrivateKey, UnparsedPublicKey, agree};
use aws_lc_rs::hmac;
use wakeful_core::notifications::notifier::PushReceiver;
use zeroize::Zeroizing;

pub const SALT_BYTES: usize = 16;
const RECORD_SIZE: u32 = 4_096;
const KEY_BYTES: usize = 16;
const NONCE_BYTES: usize = 12;
/// Marks the end of the text in the last record.
const LAST_RECORD: u8 = 2;

/// The public key of a browser is not a point of the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKey;

/// Encrypts a text for a browser. `sender` and `salt` must be new for each message.
pub fn encrypt(
    text: &[u8],
    receiver: &PushReceiver,
    sender: &PrivateKey,
    salt: [u8; SALT_BYTES],
) -> Result<Vec<u8>, InvalidKey> {
    let sender_public = sender.compute_public_key().map_err(|_| InvalidKey)?;
    let sender_public = sender_public.as_ref();
    let secret = shared_secret(receiver, sender)?;
    let info = [b"WebPush: info\0", &receiver.public_key[..], sender_public].concat();
    let material = derive::<32>(&receiver.auth, &secret, &info);
    let key = derive::<KEY_BYTES>(&salt, &*material, b"Content-Encoding: aes128gcm\0");
    let nonce = derive::<NONCE_BYTES>(&salt, &*material, b"Content-Encoding: nonce\0");
    let mut record = text.to_vec();
    record.push(LAST_RECORD);
    let key = UnboundKey::new(&AES_128_GCM, &*key).map_err(|_| InvalidKey)?;
    LessSafeKey::new(key)
        .seal_in_place_append_tag(Nonce::assume_unique_for_key(*nonce), Aad::empty(), &mut record)
        .map_err(|_| InvalidKey)?;
    let length = u8::try_from(sender_public.len()).map_err(|_| InvalidKey)?;
    let header = [&salt[..], &RECORD_SIZE.to_be_bytes(), &[length], sender_public].concat();
    Ok([header, record].concat())
}

/// Whether messages can be encrypted with the public key of a browser.
pub fn check_key(receiver: &PushReceiver) -> Result<(), InvalidKey> {
    let any = PrivateKey::from_private_key(&ECDH_P256, &[1; 32]).map_err(|_| InvalidKey)?;
    shared_secret(receiver, &any).map(drop)
}

fn shared_secret(
    receiver: &PushReceiver,
    sender: &PrivateKey,
) -> Result<Zeroizing<Vec<u8>>, InvalidKey> {
    let public = UnparsedPublicKey::new(&ECDH_P256, &receiver.public_key[..]);
    agree(sender, public, InvalidKey, |secret| Ok(Zeroizing::new(secret.to_vec())))
}

/// HKDF with SHA-256 (RFC 5869), of at most one block.
fn derive<const N: usize>(salt: &[u8], secret: &[u8], info: &[u8]) -> Zeroizing<[u8; N]> {
    let mac = |key: &[u8], text: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text);
    let extracted = mac(salt, secret);
    let block = mac(extracted.as_ref(), &[info, &[1]].concat());
    let mut derived = Zeroizing::new([0; N]);
    derived.copy_from_slice(&block.as_ref()[..N]);
    derived
}

#[cfg(test)]
mod tests {
    use super::*;
    use data_encoding::BASE64URL_NOPAD;
    use wakeful_core::notifications::notifier::webpush;

    /// RFC 8291, section 5.
    #[test]
    fn the_example_of_the_specification_is_encrypted_byte_for_byte() {
        let decode = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).expect("base64url");
        let receiver = PushReceiver {
            endpoint: webpush::endpoint("https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV").expect("valid"),
            public_key: webpush::public_key("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4").expect("valid"),
            auth: webpush::auth("BTBZMqHH6r4Tts7J_aSIgg").expect("valid"),
        };
        let sender = decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
        let sender = PrivateKey::from_private_key(&ECDH_P256, &sender).expect("valid");
        let salt = decode("DGv6ra1nlYgDCS1FRnbzlw").try_into().expect("16 bytes");
        let text = b"When I grow up, I want to be a watermelon";
        let body = encrypt(text, &receiver, &sender, salt).expect("valid");
        let expected = concat!(
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vC",
            "YLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXL",
            "WyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
        );
        assert_eq!(BASE64URL_NOPAD.encode(&body), expected);
        assert_eq!(check_key(&receiver), Ok(()));
        let mut wrong = receiver.clone();
        wrong.public_key[64] ^= 1;
        assert_eq!(check_key(&wrong), Err(InvalidKey));
        assert_eq!(encrypt(text, &wrong, &sender, salt), Err(InvalidKey));
    }
}
