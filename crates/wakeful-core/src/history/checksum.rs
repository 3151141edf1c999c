//! CRC-32 as everybody computes it (polynomial 0xEDB88320): it tells a block
//! that the disk changed from one that was written.

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut rest = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest & 1 == 1 { (rest >> 1) ^ 0xEDB8_8320 } else { rest >> 1 };
            bit += 1;
        }
        table[byte] = rest;
        byte += 1;
    }
    table
}

fn of(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| TABLE[usize::from((sum as u8) ^ byte)] ^ (sum >> 8))
}

/// The bytes with their checksum at the end.
pub(super) fn close(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = of(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// The bytes without their checksum; nothing when it is not theirs.
pub(super) fn open(bytes: &[u8]) -> Option<&[u8]> {
    let (bytes, sum) = bytes.split_last_chunk::<4>()?;
    (of(bytes) == u32::from_le_bytes(*sum)).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_one_of_the_standard() {
        assert_eq!(of(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_changed_bit_is_seen() {
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
