//! A plain bit stream, for data that must be read quickly: a number is its
//! length in ones, followed by its bits. Reading past the end yields zeros;
//! callers verify a checksum first.

use super::range_coder::{low_bits, unzigzag, zigzag};

/// This many ones mean that the length follows in plain bits.
const MAX_ONES: u32 = 24;

/// Reader, writer or counter, so that one function describes both directions: a
/// writer encodes the value and returns it, a reader ignores it and returns the
/// decoded one.
pub(super) trait BitCoder {
    /// The lowest `count` bits of a value, 32 at most.
    fn plain(&mut self, value: u64, count: u32) -> u64;

    /// `count` ones, followed by a zero unless there are `MAX_ONES`.
    fn ones(&mut self, count: u32) -> u32;

    fn flag(&mut self, flag: bool) -> bool {
        self.plain(flag.into(), 1) == 1
    }

    /// Any number. One of about `rough` bits takes little more than that.
    fn number(&mut self, rough: u32, value: u64) -> u64 {
        let length = bits_of(value >> rough);
        let length = match self.ones(length.min(MAX_ONES)) {
            MAX_ONES => (self.plain(length.into(), 7) as u32).min(u64::BITS),
            length => length,
        };
        let top = match length.checked_sub(1) {
            None => 0,
            Some(behind) => (1 << behind) | self.wide(value >> rough, behind),
        };
        (top << rough) | self.wide(value, rough)
    }

    /// A signed number.
    fn signed(&mut self, rough: u32, value: i64) -> i64 {
        unzigzag(self.number(rough, zigzag(value)))
    }

    /// A small number: `value >> rough` ones, then its lowest bits.
    fn small(&mut self, rough: u32, value: u64) -> u64 {
        code_small(self, rough, value)
    }

    /// The lowest `count` bits of a value, up to 64.
    fn wide(&mut self, value: u64, count: u32) -> u64 {
        let low = count.min(32);
        let part = self.plain(value & low_bits(low), low);
        match count - low {
            0 => part,
            high => part | (self.plain((value >> 32) & low_bits(high), high) << 32),
        }
    }
}

fn code_small(coder: &mut (impl BitCoder + ?Sized), rough: u32, value: u64) -> u64 {
    let whole = value >> rough;
    let whole = match coder.ones(whole.min(MAX_ONES.into()) as u32) {
        MAX_ONES => coder.number(0, whole),
        ones => ones.into(),
    };
    (whole << rough) | coder.plain(value & low_bits(rough), rough)
}

/// The number of significant bits.
pub(super) fn bits_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

#[derive(Default)]
pub(super) struct Writer {
    buffer: u64,
    filled: u32,
    out: Vec<u8>,
}

impl Writer {
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.extend(&self.buffer.to_le_bytes()[..self.filled.div_ceil(8) as usize]);
        self.out
    }
}

impl BitCoder for Writer {
    fn plain(&mut self, value: u64, count: u32) -> u64 {
        self.buffer |= value << self.filled;
        self.filled += count;
        while self.filled >= 8 {
            self.out.push(self.buffer as u8);
            self.buffer >>= 8;
            self.filled -= 8;
        }
        value
    }

    fn ones(&mut self, count: u32) -> u32 {
        self.plain(low_bits(count), (count + 1).min(MAX_ONES));
        count
    }
}

/// Only counts the bits.
#[derive(Default)]
pub(super) struct BitCounter {
    pub(super) bits: u64,
}

impl BitCoder for BitCounter {
    fn plain(&mut self, value: u64, count: u32) -> u64 {
        self.bits += u64::from(count);
        value
    }

    fn ones(&mut self, count: u32) -> u32 {
        self.bits += u64::from((count + 1).min(MAX_ONES));
        count
    }
}

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The position of the next bit.
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next bits, at least 57 of them.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at >> 3..).unwrap_or_default();
        let next = match rest.first_chunk() {
            Some(whole) => u64::from_le_bytes(*whole),
            None => {
                let mut last = [0; 8];
                last[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(last)
            }
        };
        next >> (self.at & 7)
    }
}

impl BitCoder for Reader<'_> {
    fn plain(&mut self, _: u64, count: u32) -> u64 {
        let value = self.peek() & low_bits(count);
        self.at += count as usize;
        value
    }

    fn ones(&mut self, _: u32) -> u32 {
        let count = self.peek().trailing_ones().min(MAX_ONES);
        self.at += (count + 1).min(MAX_ONES) as usize;
        count
    }

    /// In a single read, because a sketch consists of these: the bits of one
    /// read include all the ones and 32 bits after them.
    fn small(&mut self, rough: u32, _: u64) -> u64 {
        let next = self.peek();
        let ones = next.trailing_ones();
        if ones >= MAX_ONES {
            return code_small(self, rough, 0);
        }
        self.at += (ones + 1 + rough) as usize;
        (u64::from(ones) << rough) | ((next >> (ones + 1)) & low_bits(rough))
    }
}

/// A number that every roll-up has: encoded as the difference to its running
/// average, in about as many bits as recent differences took.
pub(super) struct DeltaCoder {
    is_first: bool,
    average: i64,
    distance: u64,
}

impl DeltaCoder {
    /// `rough` is the expected number of bits of the first value.
    pub(super) fn new(rough: u32) -> Self {
        Self { is_first: true, average: 0, distance: low_bits(rough) }
    }

    pub(super) fn code(&mut self, coder: &mut impl BitCoder, value: i64) -> i64 {
        let rough = bits_of(self.distance).min(u64::BITS - 1);
        let offset = coder.signed(rough, value.wrapping_sub(self.average));
        let value = self.average.wrapping_add(offset);
        if self.is_first {
            // Most later values are much closer; a distant one is learned
            // quickly.
            *self = Self { is_first: false, average: value, distance: 15 };
        } else {
            self.average = self.average.wrapping_add(offset / 4);
            self.distance = self.distance - self.distance / 4 + offset.unsigned_abs() / 4;
        }
        value
    }

    pub(super) fn unsigned(&mut self, coder: &mut impl BitCoder, value: u64) -> u64 {
        self.code(coder, value.cast_signed()).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every operation of a coder once; the same for reader, writer and
    /// counter.
    fn code_all(
        coder: &mut impl BitCoder,
        delta: &mut DeltaCoder,
        item: (u64, u32, i64, bool),
    ) -> [u64; 6] {
        let (value, width, offset, flag) = item;
        let narrow = value & low_bits(width);
        [
            coder.number(width / 2, narrow),
            coder.signed(width.min(63), offset).cast_unsigned(),
            coder.flag(flag).into(),
            coder.wide(narrow, width),
            coder.small(width % 9, narrow & 0xFFFF),
            delta.unsigned(coder, narrow),
        ]
    }

    proptest! {
        #[test]
        fn encoding_round_trips(
            values in prop::collection::vec((any::<u64>(), 0_u32..65, any::<i64>(), any::<bool>()), 0..200),
        ) {
            let (mut writer, mut meter) = (Writer::default(), BitCounter::default());
            let mut lanes = [DeltaCoder::new(4), DeltaCoder::new(4), DeltaCoder::new(4)];
            for item in &values {
                code_all(&mut writer, &mut lanes[0], *item);
                code_all(&mut meter, &mut lanes[1], *item);
            }
            let bytes = writer.finish();
            prop_assert_eq!(bytes.len() as u64, meter.bits.div_ceil(8));
            let mut reader = Reader::new(&bytes);
            for item in &values {
                let (value, width, offset, flag) = *item;
                let narrow = value & low_bits(width);
                let expected =
                    [narrow, offset.cast_unsigned(), flag.into(), narrow, narrow & 0xFFFF, narrow];
                let nothing = (0, width, 0, false);
                prop_assert_eq!(code_all(&mut reader, &mut lanes[2], nothing), expected);
            }
        }
    }

    #[test]
    fn garbage_is_read_without_a_panic() {
        for bytes in [[0xFF; 64], [0; 64], [0xA5; 64]] {
            let mut reader = Reader::new(&bytes);
            let mut delta = DeltaCoder::new(63);
            for width in 0..500 {
                code_all(&mut reader, &mut delta, (0, width % 65, 0, false));
            }
        }
    }

    #[test]
    fn a_nearly_constant_number_takes_few_bits() {
        let (mut meter, mut delta) = (BitCounter::default(), DeltaCoder::new(20));
        for number in 0..1_000_u64 {
            delta.unsigned(&mut meter, 3_540_000 + number * 7_919 % 64);
        }
        assert!(meter.bits < 8_000, "{} bits", meter.bits);
    }
}
