//! Standard CRC-32 (polynomial 0xEDB88320): it detects blocks that were
//! corrupted on disk.

/// The bytes with their checksum appended.
pub(super) fn close(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The bytes without their checksum; `None` when it does not match.
pub(super) fn open(bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, sum) = bytes.split_last_chunk::<4>()?;
    (crc32fast::hash(bytes) == u32::from_le_bytes(*sum)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_matches_the_standard() {
        let whole = close(b"123456789".to_vec());
        assert_eq!(whole[9..], 0xCBF4_3926_u32.to_le_bytes());
    }

    #[test]
    fn a_changed_bit_is_detected() {
        let whole = close(b"heartbeats".to_vec());
        assert_eq!(open(&whole), Some(&b"heartbeats"[..]));
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut hurt = whole.clone();
                hurt[at] ^= 1 << bit;
                assert_eq!(open(&hurt), None);
            }
        }
        assert_eq!(open(b"abc"), None);
    }
}
