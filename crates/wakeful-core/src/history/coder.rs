//! An adaptive binary range coder: every yes or no costs as little as it was
//! likely, and the likelihoods are learned on the way by both sides alike.
//! Numbers go through it as their length in bits, a few leading bits that are
//! learned, and the rest as it is. Reading past the end reads zeros; whoever
//! reads holds the result against a checksum first.

const TOP: u32 = 1 << 24;
/// How many decisions a likelihood takes to become slow to change.
const SETTLED: u8 = 120;

/// What a share of one, two, three… is worth when multiplied instead of divided:
/// exact for all that fits into sixteen bits, and a third of the time.
const SHARES: [u64; SETTLED as usize + 1] = shares();

const fn shares() -> [u64; SETTLED as usize + 1] {
    let mut shares = [0; SETTLED as usize + 1];
    let mut seen = 0;
    while seen < shares.len() {
        shares[seen] = (1_u64 << 32).div_ceil(seen as u64 + 2);
        seen += 1;
    }
    shares
}

/// `whole / (seen + 2)`.
fn part(whole: u16, seen: u8) -> u16 {
    ((u64::from(whole) * SHARES[usize::from(seen)]) >> 32) as u16
}

/// How likely a `true` is, learned from those that came before.
#[derive(Clone, Copy)]
pub(super) struct Bit {
    chance: u16,
    seen: u8,
}

impl Default for Bit {
    fn default() -> Self {
        Self { chance: 1 << 15, seen: 0 }
    }
}

impl Bit {
    /// Never nothing and never everything: both decisions stay possible.
    fn bound(self, range: u32) -> u32 {
        (range >> 16) * u32::from(self.chance.clamp(64, u16::MAX - 63))
    }

    fn learn(&mut self, bit: bool) {
        // The first decisions count most: one part in two, in three, in four.
        match bit {
            true => self.chance += part(u16::MAX - self.chance, self.seen),
            false => self.chance -= part(self.chance, self.seen),
        }
        self.seen = (self.seen + 1).min(SETTLED);
    }
}

pub(super) struct Encoder {
    low: u64,
    range: u32,
    held: u8,
    waiting: u64,
    out: Vec<u8>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { low: 0, range: u32::MAX, held: 0, waiting: 1, out: Vec::new() }
    }
}

impl Encoder {
    pub(super) fn bit(&mut self, model: &mut Bit, bit: bool) {
        let bound = model.bound(self.range);
        if bit {
            self.range = bound;
        } else {
            self.low += u64::from(bound);
            self.range -= bound;
        }
        model.learn(bit);
        self.normalise();
    }

    /// The lowest `count` bits of a number, all as likely as not.
    pub(super) fn plain(&mut self, value: u64, count: u32) {
        let mut left = count;
        while left > 0 {
            let take = left.min(16);
            left -= take;
            let part = (value >> left) & ((1 << take) - 1);
            self.range >>= take;
            self.low += part * u64::from(self.range);
            self.normalise();
        }
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        for _ in 0..5 {
            self.shift();
        }
        // The first byte is always nothing; zeros at the end are read anyway.
        self.out.remove(0);
        while self.out.last() == Some(&0) {
            self.out.pop();
        }
        self.out
    }

    fn normalise(&mut self) {
        while self.range < TOP {
            self.range <<= 8;
            self.shift();
        }
    }

    /// Gives out the highest byte once no carry can reach it any more.
    fn shift(&mut self) {
        let (low, carry) = (self.low as u32, (self.low >> 32) as u8);
        if low < 0xFF00_0000 || carry == 1 {
            let mut byte = self.held;
            while self.waiting > 0 {
                self.out.push(byte.wrapping_add(carry));
                byte = 0xFF;
                self.waiting -= 1;
            }
            self.held = (low >> 24) as u8;
        }
        self.waiting += 1;
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

    pub(super) fn bit(&mut self, model: &mut Bit) -> bool {
        let bound = model.bound(self.range);
        let bit = self.code < bound;
        if bit {
            self.range = bound;
        } else {
            self.code -= bound;
            self.range -= bound;
        }
        model.learn(bit);
        self.normalise();
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
            self.normalise();
        }
        value
    }

    fn normalise(&mut self) {
        while self.range < TOP {
            self.range <<= 8;
            self.code = (self.code << 8) | self.next();
        }
    }
}

/// Either side of the coder, so that what is written and what is read is one
/// text: writing takes a value and gives it back, reading makes it up.
pub(super) trait Side {
    fn bit(&mut self, model: &mut Bit, bit: bool) -> bool;
    fn plain(&mut self, value: u64, count: u32) -> u64;
}

impl Side for Encoder {
    fn bit(&mut self, model: &mut Bit, bit: bool) -> bool {
        Self::bit(self, model, bit);
        bit
    }

    fn plain(&mut self, value: u64, count: u32) -> u64 {
        Self::plain(self, value, count);
        value
    }
}

impl Side for Decoder<'_> {
    fn bit(&mut self, model: &mut Bit, _: bool) -> bool {
        Self::bit(self, model)
    }

    fn plain(&mut self, _: u64, count: u32) -> u64 {
        Self::plain(self, count)
    }
}

/// One of `1 << bits` symbols, learned as a tree of decisions.
#[derive(Clone)]
pub(super) struct Tree {
    bits: u32,
    nodes: Vec<Bit>,
}

impl Tree {
    pub(super) fn new(bits: u32) -> Self {
        Self { bits, nodes: vec![Bit::default(); 1 << bits] }
    }

    pub(super) fn code(&mut self, side: &mut impl Side, symbol: u64) -> u64 {
        branch(side, &mut self.nodes, self.bits, symbol)
    }
}

fn branch(side: &mut impl Side, nodes: &mut [Bit], bits: u32, symbol: u64) -> u64 {
    let mut node = 1_usize;
    for level in (0..bits).rev() {
        let bit = side.bit(&mut nodes[node], (symbol >> level) & 1 == 1);
        node = (node << 1) | usize::from(bit);
    }
    (node - (1 << bits)) as u64
}

/// A number of any size: the nearer it is to those before, the less it costs.
#[derive(Clone)]
pub(super) struct Number {
    length: Tree,
    /// How many bits behind the first are learned.
    fine: u32,
    leading: Vec<Bit>,
}

impl Number {
    pub(super) fn new(fine: u32) -> Self {
        Self { length: Tree::new(7), fine, leading: vec![Bit::default(); 65 << fine] }
    }

    pub(super) fn code(&mut self, side: &mut impl Side, value: u64) -> u64 {
        let length = u64::BITS - value.leading_zeros();
        // A damaged block may say anything up to 127.
        let length = (self.length.code(side, length.into()) as u32).min(u64::BITS);
        if length < 2 {
            return length.into();
        }
        let behind = length - 1;
        let learned = behind.min(self.fine);
        let plain = behind - learned;
        let from = (length as usize) << self.fine;
        let nodes = &mut self.leading[from..from + (1 << self.fine)];
        let top = branch(side, nodes, learned, (value >> plain) & ((1 << learned) - 1));
        let low = side.plain(value & low_bits(plain), plain);
        (1 << behind) | (top << plain) | low
    }

    /// A number that may lie on either side of nothing.
    pub(super) fn signed(&mut self, side: &mut impl Side, value: i64) -> i64 {
        unfold(self.code(side, fold(value)))
    }
}

/// Numbers near nothing become small ones, whichever side they lie on.
pub(super) fn fold(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

pub(super) fn unfold(folded: u64) -> i64 {
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
        fn what_goes_in_comes_out(values in prop::collection::vec((any::<u64>(), 0_u32..65, any::<i64>(), any::<bool>()), 0..200)) {
            let mut encoder = Encoder::default();
            let (mut number, mut signed, mut bit, mut tree) = (Number::new(5), Number::new(3), Bit::default(), Tree::new(4));
            for (value, width, offset, flag) in &values {
                number.code(&mut encoder, value & low_bits(*width));
                signed.signed(&mut encoder, *offset);
                Side::bit(&mut encoder, &mut bit, *flag);
                Side::plain(&mut encoder, value & low_bits(*width), *width);
                tree.code(&mut encoder, value & 15);
            }
            let bytes = encoder.finish();
            let mut decoder = Decoder::new(&bytes);
            let (mut number, mut signed, mut bit, mut tree) = (Number::new(5), Number::new(3), Bit::default(), Tree::new(4));
            for (value, width, offset, flag) in &values {
                prop_assert_eq!(number.code(&mut decoder, 0), value & low_bits(*width));
                prop_assert_eq!(signed.signed(&mut decoder, 0), *offset);
                prop_assert_eq!(Side::bit(&mut decoder, &mut bit, false), *flag);
                prop_assert_eq!(Side::plain(&mut decoder, 0, *width), value & low_bits(*width));
                prop_assert_eq!(tree.code(&mut decoder, 0), value & 15);
            }
        }
    }

    #[test]
    fn a_share_is_what_dividing_gives() {
        for seen in 0..=SETTLED {
            for whole in (0..=u16::MAX).step_by(7).chain(65_000..=u16::MAX) {
                assert_eq!(part(whole, seen), whole / (u16::from(seen) + 2), "{whole} {seen}");
            }
        }
    }

    #[test]
    fn what_never_changes_costs_next_to_nothing() {
        let mut encoder = Encoder::default();
        let mut bit = Bit::default();
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
        let mut number = Number::new(6);
        for _ in 0..1_000 {
            number.code(&mut decoder, 0);
        }
    }
}
