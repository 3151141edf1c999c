//! Bits one behind the other, for what must be read quickly: a number is its
//! length in ones, then its bits as they are. Reading past the end reads zeros;
//! whoever reads holds the result against a checksum first.

use super::coder::{fold, low_bits, unfold};

/// So many ones say that the length follows in plain bits.
const MOST_ONES: u32 = 24;

/// Either side of the bits, so that what is written and what is read is one
/// text: writing takes a value and gives it back, reading makes it up.
pub(super) trait Side {
    /// The lowest `count` bits of a value, 32 at most.
    fn plain(&mut self, value: u64, count: u32) -> u64;

    /// So many ones, and a zero behind them unless they are `MOST_ONES`.
    fn ones(&mut self, count: u32) -> u32;

    fn flag(&mut self, flag: bool) -> bool {
        self.plain(flag.into(), 1) == 1
    }

    /// Any number. Of about `rough` bits it costs little more than these.
    fn number(&mut self, rough: u32, value: u64) -> u64 {
        let length = bits_of(value >> rough);
        let length = match self.ones(length.min(MOST_ONES)) {
            MOST_ONES => (self.plain(length.into(), 7) as u32).min(u64::BITS),
            length => length,
        };
        let top = match length.checked_sub(1) {
            None => 0,
            Some(behind) => (1 << behind) | self.wide(value >> rough, behind),
        };
        (top << rough) | self.wide(value, rough)
    }

    /// A number that may lie on either side of nothing.
    fn signed(&mut self, rough: u32, value: i64) -> i64 {
        unfold(self.number(rough, fold(value)))
    }

    /// A small number: so many ones as it has `1 << rough`, then its lowest bits.
    fn small(&mut self, rough: u32, value: u64) -> u64 {
        any_small(self, rough, value)
    }

    /// The lowest `count` bits of a value, however many.
    fn wide(&mut self, value: u64, count: u32) -> u64 {
        let low = count.min(32);
        let part = self.plain(value & low_bits(low), low);
        match count - low {
            0 => part,
            high => part | (self.plain((value >> 32) & low_bits(high), high) << 32),
        }
    }
}

fn any_small(side: &mut (impl Side + ?Sized), rough: u32, value: u64) -> u64 {
    let whole = value >> rough;
    let whole = match side.ones(whole.min(MOST_ONES.into()) as u32) {
        MOST_ONES => side.number(0, whole),
        ones => ones.into(),
    };
    (whole << rough) | side.plain(value & low_bits(rough), rough)
}

/// How many bits a number has.
pub(super) fn bits_of(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

#[derive(Default)]
pub(super) struct Writer {
    held: u64,
    filled: u32,
    out: Vec<u8>,
}

impl Writer {
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.extend(&self.held.to_le_bytes()[..self.filled.div_ceil(8) as usize]);
        self.out
    }
}

impl Side for Writer {
    fn plain(&mut self, value: u64, count: u32) -> u64 {
        self.held |= value << self.filled;
        self.filled += count;
        while self.filled >= 8 {
            self.out.push(self.held as u8);
            self.held >>= 8;
            self.filled -= 8;
        }
        value
    }

    fn ones(&mut self, count: u32) -> u32 {
        self.plain(low_bits(count), (count + 1).min(MOST_ONES));
        count
    }
}

/// Only counts the bits.
#[derive(Default)]
pub(super) struct Meter {
    pub(super) bits: u64,
}

impl Side for Meter {
    fn plain(&mut self, value: u64, count: u32) -> u64 {
        self.bits += u64::from(count);
        value
    }

    fn ones(&mut self, count: u32) -> u32 {
        self.bits += u64::from((count + 1).min(MOST_ONES));
        count
    }
}

pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// The next bits, 57 of them at least.
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

impl Side for Reader<'_> {
    fn plain(&mut self, _: u64, count: u32) -> u64 {
        let value = self.peek() & low_bits(count);
        self.at += count as usize;
        value
    }

    fn ones(&mut self, _: u32) -> u32 {
        let count = self.peek().trailing_ones().min(MOST_ONES);
        self.at += (count + 1).min(MOST_ONES) as usize;
        count
    }

    /// In one look, because a sketch is made of these: what is read at once has
    /// room for all the ones and for 32 bits behind them.
    fn small(&mut self, rough: u32, _: u64) -> u64 {
        let next = self.peek();
        let ones = next.trailing_ones();
        if ones >= MOST_ONES {
            return any_small(self, rough, 0);
        }
        self.at += (ones + 1 + rough) as usize;
        (u64::from(ones) << rough) | ((next >> (ones + 1)) & low_bits(rough))
    }
}

/// A number that comes with every roll-up: told by how far it is from what it
/// was on average, in about as many bits as that took before.
pub(super) struct Lane {
    is_first: bool,
    average: i64,
    distance: u64,
}

impl Lane {
    /// Of how many bits the first one may be.
    pub(super) fn new(rough: u32) -> Self {
        Self { is_first: true, average: 0, distance: low_bits(rough) }
    }

    pub(super) fn code(&mut self, side: &mut impl Side, value: i64) -> i64 {
        let rough = bits_of(self.distance).min(u64::BITS - 1);
        let offset = side.signed(rough, value.wrapping_sub(self.average));
        let value = self.average.wrapping_add(offset);
        if self.is_first {
            // Most are much nearer; one that is not is learned at once.
            *self = Self { is_first: false, average: value, distance: 15 };
        } else {
            self.average = self.average.wrapping_add(offset / 4);
            self.distance = self.distance - self.distance / 4 + offset.unsigned_abs() / 4;
        }
        value
    }

    pub(super) fn unsigned(&mut self, side: &mut impl Side, value: u64) -> u64 {
        self.code(side, value.cast_signed()).cast_unsigned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything that can be said, said once; the same for all sides.
    fn say(side: &mut impl Side, lane: &mut Lane, told: (u64, u32, i64, bool)) -> [u64; 6] {
        let (value, width, offset, flag) = told;
        let narrow = value & low_bits(width);
        [
            side.number(width / 2, narrow),
            side.signed(width.min(63), offset).cast_unsigned(),
            side.flag(flag).into(),
            side.wide(narrow, width),
            side.small(width % 9, narrow & 0xFFFF),
            lane.unsigned(side, narrow),
        ]
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            values in prop::collection::vec((any::<u64>(), 0_u32..65, any::<i64>(), any::<bool>()), 0..200),
        ) {
            let (mut writer, mut meter) = (Writer::default(), Meter::default());
            let mut lanes = [Lane::new(4), Lane::new(4), Lane::new(4)];
            for told in &values {
                say(&mut writer, &mut lanes[0], *told);
                say(&mut meter, &mut lanes[1], *told);
            }
            let bytes = writer.finish();
            prop_assert_eq!(bytes.len() as u64, meter.bits.div_ceil(8));
            let mut reader = Reader::new(&bytes);
            for told in &values {
                let (value, width, offset, flag) = *told;
                let narrow = value & low_bits(width);
                let expected =
                    [narrow, offset.cast_unsigned(), flag.into(), narrow, narrow & 0xFFFF, narrow];
                let nothing = (0, width, 0, false);
                prop_assert_eq!(say(&mut reader, &mut lanes[2], nothing), expected);
            }
        }
    }

    #[test]
    fn garbage_is_read_without_a_panic() {
        for bytes in [[0xFF; 64], [0; 64], [0xA5; 64]] {
            let mut reader = Reader::new(&bytes);
            let mut lane = Lane::new(63);
            for width in 0..500 {
                say(&mut reader, &mut lane, (0, width % 65, 0, false));
            }
        }
    }

    #[test]
    fn what_stays_about_the_same_costs_what_it_moves_by() {
        let (mut meter, mut lane) = (Meter::default(), Lane::new(20));
        for number in 0..1_000_u64 {
            lane.unsigned(&mut meter, 3_540_000 + number * 7_919 % 64);
        }
        assert!(meter.bits < 8_000, "{} bits", meter.bits);
    }
}
