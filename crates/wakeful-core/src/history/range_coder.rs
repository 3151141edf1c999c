//! An adaptive binary range coder: the likelier a bit, the less space it takes,
//! and encoder and decoder learn the probabilities alike. A number is encoded
//! as its length in bits, a few leading bits that are learned, and the
//! remaining bits as they are. Reading past the end yields zeros; callers
//! verify a checksum first.

const TOP: u32 = 1 << 24;
/// The number of bits after which a probability adapts at its slowest rate.
const ADAPTATION_LIMIT: u8 = 120;

/// Fixed-point reciprocals of 2, 3, 4…: multiplying takes a third of the time
/// of dividing, and is exact for all 16-bit values.
const RECIPROCALS: [u64; ADAPTATION_LIMIT as usize + 1] = reciprocals();

const fn reciprocals() -> [u64; ADAPTATION_LIMIT as usize + 1] {
    let mut reciprocals = [0; ADAPTATION_LIMIT as usize + 1];
    let mut seen = 0;
    while seen < reciprocals.len() {
        reciprocals[seen] = (1_u64 << 32).div_ceil(seen as u64 + 2);
        seen += 1;
    }
    reciprocals
}

/// `whole / (seen + 2)`.
fn divide(whole: u16, seen: u8) -> u16 {
    ((u64::from(whole) * RECIPROCALS[usize::from(seen)]) >> 32) as u16
}

/// The probability of `true`, learned from previous bits.
#[derive(Clone, Copy)]
pub(super) struct BitModel {
    chance: u16,
    seen: u8,
}

impl Default for BitModel {
    fn default() -> Self {
        Self { chance: 1 << 15, seen: 0 }
    }
}

impl BitModel {
    /// Never zero and never all of `range`: both values stay possible.
    fn bound(self, range: u32) -> u32 {
        (range >> 16) * u32::from(self.chance.clamp(64, u16::MAX - 63))
    }

    fn learn(&mut self, bit: bool) {
        // The first bits count most: one half, one third, one fourth.
        if bit {
            self.chance += divide(u16::MAX - self.chance, self.seen);
        } else {
            self.chance -= divide(self.chance, self.seen);
        }
        self.seen = (self.seen + 1).min(ADAPTATION_LIMIT);
    }
}

pub(super) struct Encoder {
    low: u64,
    range: u32,
    cache: u8,
    pending: u64,
    out: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { low: 0, range: u32::MAX, cache: 0, pending: 1, out: Vec::new() }
    }
}

impl Encoder {
    pub(super) fn bit(&mut self, model: &mut BitModel, bit: bool) {
        let bound = model.bound(self.range);
        if bit {
            self.range = bound;
        } else {
            self.low += u64::from(bound);
            self.range -= bound;
        }
        model.learn(bit);
        self.normalize();
    }

    /// The lowest `count` bits of a number, all equally likely.
    pub(super) fn plain(&mut self, value: u64, count: u32) {
        let mut left = count;
        while left > 0 {
            let take = left.min(16);
            left -= take;
            let part = (value >> left) & ((1 << take) - 1);
            self.range >>= take;
            self.low += part * u64::from(self.range);
            self.normalize();
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        for _ in 0..5 {
            self.shift();
        }
        // The first byte is always zero, and trailing zeros are implied.
        self.out.remove(0);
        while self.out.last() == Some(&0) {
            self.out.pop();
        }
        self.out
    }

    fn normalize(&mut self) {
        while self.range < TOP {
            self.range <<= 8;
            self.shift();
        }
    }

    /// Writes the highest byte once no carry can reach it.
    fn shift(&mut self) {
        let (low, carry) = (self.low as u32, (self.low >> 32) as u8);
        if low < 0xFF00_0000 || carry == 1 {
            let mut byte = self.cache;
            while self.pending > 0 {
                self.out.push(byte.wrapping_add(carry));
                byte = 0xFF;
                self.pending -= 1;
            }
            self.cache = (low >> 24) as u8;
        }
        self.pending += 1;
        self.low = u64::from(low << 8);
    }
}

pub(super) struct Decoder<'a> {
    code: u32,
    range: u32,
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { code: 0, range: u32::MAX, rest: bytes };
        for _ in 0..4 {
            decoder.code = (decoder.code << 8) | decoder.next();
        }
        decoder
    }

    fn next(&mut self) -> u32 {
        match self.rest.split_first() {
            Some((byte, rest)) => {
                self.rest = rest;
                u32::from(*byte)
            }
            None => 0,
        }
    }

    pub(super) fn bit(&mut self, model: &mut BitModel) -> bool {
        let bound = model.bound(self.range);
        let bit = self.code < bound;
        if bit {
            self.range = bound;
        } else {
            self.code -= bound;
            self.range -= bound;
        }
        model.learn(bit);
        self.normalize();
        bit
    }

    pub(super) fn plain(&mut self, count: u32) -> u64 {
        let (mut left, mut value) = (count, 0_u64);
        while left > 0 {
            let take = left.min(16);
            left -= take;
            self.range >>= take;
            let part = (self.code / self.range).min((1 << take) - 1);
            self.code -= part * self.range;
            value = (value << take) | u64::from(part);
            self.normalize();
        }
        value
    }

    fn normalize(&mut self) {
        while self.range < TOP {
            self.range <<= 8;
            self.code = (self.code << 8) | self.next();
        }
    }
}

/// Encoder or decoder, so that one function describes both directions: an
/// encoder encodes the value and returns it, a decoder ignores it and returns
/// the decoded one.
pub(super) trait Coder {
    fn bit(&mut self, model: &mut BitModel, bit: bool) -> bool;
    fn plain(&mut self, value: u64, count: u32) -> u64;
}

impl Coder for Encoder {
    fn bit(&mut self, model: &mut BitModel, bit: bool) -> bool {
        Self::bit(self, model, bit);
        bit
    }

    fn plain(&mut self, value: u64, count: u32) -> u64 {
        Self::plain(self, value, count);
        value
    }
}

impl Coder for Decoder<'_> {
    fn bit(&mut self, model: &mut BitModel, _: bool) -> bool {
        Self::bit(self, model)
    }

    fn plain(&mut self, _: u64, count: u32) -> u64 {
        Self::plain(self, count)
    }
}

/// One of `1 << bits` symbols, learned as a binary tree.
#[derive(Clone)]
pub(super) struct SymbolModel {
    bits: u32,
    nodes: Vec<BitModel>,
}

impl SymbolModel {
    pub(super) fn new(bits: u32) -> Self {
        Self { bits, nodes: vec![BitModel::default(); 1 << bits] }
    }

    pub(super) fn code(&mut self, coder: &mut impl Coder, symbol: u64) -> u64 {
        branch(coder, &mut self.nodes, self.bits, symbol)
    }
}

fn branch(coder: &mut impl Coder, nodes: &mut [BitModel], bits: u32, symbol: u64) -> u64 {
    let mut node = 1_usize;
    for level in (0..bits).rev() {
        let bit = coder.bit(&mut nodes[node], (symbol >> level) & 1 == 1);
        node = (node << 1) | usize::from(bit);
    }
    (node - (1 << bits)) as u64
}

/// A number of any size: the closer it is to previous ones, the less space it
/// takes.
#[derive(Clone)]
pub(super) struct NumberModel {
    length: SymbolModel,
    /// How many bits after the leading one are learned.
    fine: u32,
    leading: Vec<BitModel>,
}

impl NumberModel {
    pub(super) fn new(fine: u32) -> Self {
        Self { length: SymbolModel::new(7), fine, leading: vec![BitModel::default(); 65 << fine] }
    }

    pub(super) fn code(&mut self, coder: &mut impl Coder, value: u64) -> u64 {
        let length = u64::BITS - value.leading_zeros();
        // A damaged block may contain any length up to 127.
        let length = (self.length.code(coder, length.into()) as u32).min(u64::BITS);
        if length < 2 {
            return length.into();
        }
        let behind = length - 1;
        let learned = behind.min(self.fine);
        let plain = behind - learned;
        let from = (length as usize) << self.fine;
        let nodes = &mut self.leading[from..from + (1 << self.fine)];
        let top = branch(coder, nodes, learned, (value >> plain) & ((1 << learned) - 1));
        let low = coder.plain(value & low_bits(plain), plain);
        (1 << behind) | (top << plain) | low
    }

    /// A signed number.
    pub(super) fn signed(&mut self, coder: &mut impl Coder, value: i64) -> i64 {
        unzigzag(self.code(coder, zigzag(value)))
    }
}

/// Maps numbers close to zero to small ones, whatever their sign.
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

pub(super) fn unzigzag(folded: u64) -> i64 {
    (folded >> 1).cast_signed() ^ -(folded & 1).cast_signed()
}

pub(super) fn low_bits(count: u32) -> u64 {
    match count {
        64.. => u64::MAX,
        count => (1 << count) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn encoding_round_trips(values in prop::collection::vec((any::<u64>(), 0_u32..65, any::<i64>(), any::<bool>()), 0..200)) {
            let mut encoder = Encoder::default();
            let (mut number, mut signed, mut bit, mut tree) = (NumberModel::new(5), NumberModel::new(3), BitModel::default(), SymbolModel::new(4));
            for (value, width, offset, flag) in &values {
                number.code(&mut encoder, value & low_bits(*width));
                signed.signed(&mut encoder, *offset);
                Coder::bit(&mut encoder, &mut bit, *flag);
                Coder::plain(&mut encoder, value & low_bits(*width), *width);
                tree.code(&mut encoder, value & 15);
            }
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&bytes);
            let (mut number, mut signed, mut bit, mut tree) = (NumberModel::new(5), NumberModel::new(3), BitModel::default(), SymbolModel::new(4));
            for (value, width, offset, flag) in &values {
                prop_assert_eq!(number.code(&mut decoder, 0), value & low_bits(*width));
                prop_assert_eq!(signed.signed(&mut decoder, 0), *offset);
                prop_assert_eq!(Coder::bit(&mut decoder, &mut bit, false), *flag);
                prop_assert_eq!(Coder::plain(&mut decoder, 0, *width), value & low_bits(*width));
                prop_assert_eq!(tree.code(&mut decoder, 0), value & 15);
            }
        }
    }

    #[test]
    fn reciprocals_divide_exactly() {
        for seen in 0..=ADAPTATION_LIMIT {
            for whole in (0..=u16::MAX).step_by(7).chain(65_000..=u16::MAX) {
                assert_eq!(divide(whole, seen), whole / (u16::from(seen) + 2), "{whole} {seen}");
            }
        }
    }

    #[test]
    fn a_constant_takes_almost_no_space() {
        let mut encoder = Encoder::default();
        let mut bit = BitModel::default();
        for _ in 0..10_000 {
            encoder.bit(&mut bit, true);
        }
        let size = encoder.finish().len();
        assert!(size < 40, "{size} bytes");
    }

    #[test]
    fn garbage_is_read_without_a_panic() {
        let bytes: Vec<u8> = (0..=255).rev().collect();
        let mut decoder = Decoder::new(&bytes);
        let mut number = NumberModel::new(6);
        for _ in 0..1_000 {
            number.code(&mut decoder, 0);
        }
    }
}
