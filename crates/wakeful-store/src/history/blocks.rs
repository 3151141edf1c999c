//! Which block a heartbeat goes into, and which blocks become one. Pure: what
//! comes of it is written by `fold.rs`.

use std::collections::BTreeMap;
use wakeful_core::history::pack::{FULL, Packed, pack};
use wakeful_core::history::{Entry, in_order};

use crate::dialect::from_row;

/// A block spans no more than a week, so that what is older than a limit is
/// let go about then.
const LONGEST: i64 = 7 * 24 * 3_600_000;

/// So many heartbeats fill a block for the time being: what is added every hour
/// makes little to write anew, and phases go a few hours at a time. Once their
/// phases are gone, those that stand in a row become one full block.
const SMALL: i64 = 1_024;

/// A block without its bytes.
pub(super) struct Index {
    pub(super) from: i64,
    to: i64,
    count: i64,
    has_phases: bool,
}

from_row!(Index, |row| Self {
    from: row.try_get("from_at")?,
    to: row.try_get("to_at")?,
    count: row.try_get("count")?,
    has_phases: row.try_get("has_phases")?,
});

/// A block to be written: its first and last time, how many, and the bytes.
pub(super) type NewBlock = (i64, i64, i64, Packed);

/// Sorts new heartbeats to the blocks that they belong into; those that fit
/// none begin a new one.
pub(super) fn by_block(blocks: &[Index], fresh: &[Entry]) -> Vec<(Option<i64>, Vec<Entry>)> {
    let mut sorted: BTreeMap<Option<i64>, Vec<Entry>> = BTreeMap::new();
    for entry in fresh {
        let at = entry.heartbeat.at.0;
        let behind = blocks.partition_point(|block| block.from <= at);
        let block = behind.checked_sub(1).map(|place| &blocks[place]);
        let is_last = behind == blocks.len();
        let full = |block: &&Index| {
            is_last && block.to < at && (block.count >= SMALL || at - block.from >= LONGEST)
        };
        let block = block.filter(|block| !full(block)).map(|block| block.from);
        sorted.entry(block).or_default().push(entry.clone());
    }
    sorted.into_iter().collect()
}

/// The first small blocks without phases that stand in a row and fill one, or
/// as much of it as a week allows: what follows would not fit any more.
pub(super) fn row_of_small(blocks: &[Index]) -> &[Index] {
    let is_small = |block: &Index| !block.has_phases && block.count < FULL as i64 / 2;
    let (mut begin, mut count) = (0, 0);
    for (at, block) in blocks.iter().enumerate() {
        let fits = is_small(block)
            && count + block.count <= FULL as i64
            && block.to - blocks[begin].from < LONGEST;
        if !fits {
            if at - begin > 1 {
                return &blocks[begin..at];
            }
            (begin, count) = (if is_small(block) { at } else { at + 1 }, 0);
        }
        if begin <= at {
            count += block.count;
        }
    }
    &[]
}

pub(super) fn packed(entries: Vec<Entry>) -> (Vec<NewBlock>, Vec<Entry>) {
    let entries = in_order(entries);
    let block = |chunk: &[Entry]| {
        let (first, last) = (&chunk[0].heartbeat, &chunk[chunk.len() - 1].heartbeat);
        (first.at.0, last.at.0, chunk.len() as i64, pack(chunk))
    };
    let blocks = chunks(&entries).into_iter().map(block).collect();
    (blocks, entries)
}

/// Pieces of at most a block each. Heartbeats of one millisecond stay together:
/// a block is found by the time of its first.
fn chunks(entries: &[Entry]) -> Vec<&[Entry]> {
    let mut chunks = Vec::new();
    let mut rest = entries;
    while !rest.is_empty() {
        let until = rest[0].heartbeat.at.0.saturating_add(LONGEST);
        let mut end = rest.partition_point(|entry| entry.heartbeat.at.0 < until).clamp(1, FULL);
        while end < rest.len() && rest[end].heartbeat.at == rest[end - 1].heartbeat.at {
            end += 1;
        }
        let (chunk, behind) = rest.split_at(end);
        chunks.push(chunk);
        rest = behind;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of so many hours, one behind the other; `*` has phases.
    fn blocks(told: &[(i64, i64, &str)]) -> Vec<Index> {
        let mut from = 0;
        let block = |(hours, count, phases): &(i64, i64, &str)| {
            let begin = from;
            from += hours * 3_600_000;
            Index { from: begin, to: from - 1, count: *count, has_phases: *phases == "*" }
        };
        told.iter().map(block).collect()
    }

    #[track_caller]
    fn check(told: &[(i64, i64, &str)], (begin, count): (usize, usize)) {
        let blocks = blocks(told);
        let row: Vec<i64> = row_of_small(&blocks).iter().map(|block| block.from).collect();
        let expected = blocks[begin..begin + count].iter().map(|block| block.from);
        assert_eq!(row, expected.collect::<Vec<_>>());
    }

    #[test]
    fn small_blocks_in_a_row_become_one_when_no_more_fits() {
        check(&[(17, 1_030, ""); 7], (0, 0));
        check(&[(17, 1_030, ""); 8], (0, 7));
        check(&[(17, 1_030, "*"); 20], (0, 0));
        check(&[&[(17, 1_030, ""); 3][..], &[(17, 1_030, "*"); 9]].concat(), (0, 3));
        check(&[&[(130, 7_900, "")][..], &[(17, 1_030, ""); 8]].concat(), (1, 7));
        // One alone stays; of what is a week long nothing can come.
        check(&[(17, 1_030, ""), (130, 7_900, ""), (17, 1_030, "*")], (0, 0));
        check(&[(160, 160, ""), (160, 160, ""), (160, 160, "")], (0, 0));
        check(&[(80, 1_030, ""), (80, 1_030, ""), (80, 1_030, "")], (0, 2));
    }
}
