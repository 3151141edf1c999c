//! Which block a heartbeat goes into, and which blocks become one. Pure: what
//! comes of it is written by `fold.rs`.

use std::collections::BTreeMap;
use wakeful_core::history::pack::{FULL, Packed, pack};
use wakeful_core::history::{Entry, in_order};

use crate::dialect::from_row;

/// A block spans less than a week, so that what is older than a limit is let go
/// about then, and what touches a time is found by its beginning.
pub(super) const LONGEST: i64 = 7 * 24 * 3_600_000;

/// What is folded every hour makes a short block of its own, so that nothing is
/// written anew for it. Short ones that stand in a row become one, which is
/// longer than this, and a full one once their phases are gone.
const SHORT: i64 = 8 * 3_600_000;

/// Blocks are put together once in so many folds of a monitor.
const JOIN_EVERY: i64 = 16;

/// Whether blocks are put together with the fold of this number.
pub(super) fn joins(revision: i64) -> bool {
    revision % JOIN_EVERY == JOIN_EVERY - 1
}

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

/// Sorts new heartbeats to the blocks that they belong into; those behind the
/// last one begin a new one.
pub(super) fn by_block(blocks: &[Index], fresh: &[Entry]) -> Vec<(Option<i64>, Vec<Entry>)> {
    let mut sorted: BTreeMap<Option<i64>, Vec<Entry>> = BTreeMap::new();
    for entry in fresh {
        let at = entry.heartbeat.at.0;
        let behind = blocks.partition_point(|block| block.from <= at);
        let block = behind.checked_sub(1).map(|place| &blocks[place]);
        let is_behind_all = |block: &&Index| behind == blocks.len() && block.to < at;
        let block = block.filter(|block| !is_behind_all(block)).map(|block| block.from);
        sorted.entry(block).or_default().push(entry.clone());
    }
    sorted.into_iter().collect()
}

/// Blocks that stand in a row and are to become one.
pub(super) fn rows_to_join(mut blocks: &[Index]) -> Vec<&[Index]> {
    let mut rows = Vec::new();
    while !blocks.is_empty() {
        let length = full_row(blocks).or_else(|| short_row(blocks)).unwrap_or(1);
        let (row, rest) = blocks.split_at(length);
        if length > 1 {
            rows.push(row);
        }
        blocks = rest;
    }
    rows
}

/// Those from the first on that fill a block, or as much of it as a week allows:
/// what follows would not fit any more. Their phases are gone.
fn full_row(blocks: &[Index]) -> Option<usize> {
    let is_small = |block: &Index| block.count < FULL as i64 / 2;
    let fits = |length: &usize| is_small(&blocks[*length]) && fit(&blocks[..=*length]);
    let length = (0..blocks.len()).find(|length| blocks[*length].has_phases || !fits(length))?;
    (length > 1 && !fits(&length)).then_some(length)
}

/// Those from the first on that are short; all have phases, or none has.
fn short_row(blocks: &[Index]) -> Option<usize> {
    let is_like =
        |block: &Index| block.to - block.from < SHORT && block.has_phases == blocks[0].has_phases;
    let length = (0..blocks.len())
        .take_while(|length| is_like(&blocks[*length]) && fit(&blocks[..=*length]))
        .count();
    (length > 1).then_some(length)
}

/// Whether a row makes no more than one block.
fn fit(row: &[Index]) -> bool {
    let count: i64 = row.iter().map(|block| block.count).sum();
    let is_a_week = |first: &Index, last: &Index| last.to - first.from >= LONGEST;
    count <= FULL as i64
        && !row.first().zip(row.last()).is_some_and(|(first, last)| is_a_week(first, last))
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

    /// The rows as their first block and how many there are.
    #[track_caller]
    fn check(told: &[&[(i64, i64, &str)]], expected: &[(usize, usize)]) {
        let blocks = blocks(&told.concat());
        let place = |row: &[Index]| blocks.iter().position(|block| block.from == row[0].from);
        let rows = rows_to_join(&blocks);
        let rows: Vec<_> = rows.iter().map(|row| (place(row).expect("known"), row.len())).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn short_blocks_in_a_row_become_one() {
        check(&[&[(1, 60, "*"); 16]], &[(0, 16)]);
        check(&[&[(1, 60, "*")]], &[]);
        check(&[&[(16, 960, "*"); 4], &[(1, 60, "*"); 16]], &[(4, 16)]);
        check(&[&[(16, 960, ""); 2], &[(1, 60, ""); 16]], &[(2, 16)]);
        // Phases go with a whole block.
        check(&[&[(1, 60, ""); 3], &[(1, 60, "*"); 2]], &[(0, 3), (3, 2)]);
        // No more than a block holds, and no more than a week.
        check(&[&[(1, 3_600, "*"); 5]], &[(0, 2), (2, 2)]);
        check(&[&[(7, 5, "*"); 30]], &[(0, 24), (24, 6)]);
    }

    #[test]
    fn blocks_without_phases_become_one_when_no_more_fits() {
        check(&[&[(16, 960, ""); 8]], &[]);
        check(&[&[(16, 960, ""); 9]], &[(0, 8)]);
        check(&[&[(16, 960, "*"); 20]], &[]);
        // What follows has its phases yet, and fits or does not.
        check(&[&[(16, 960, ""); 3], &[(16, 960, "*"); 9]], &[]);
        check(&[&[(16, 960, ""); 8], &[(16, 960, "*"); 4]], &[(0, 8)]);
        check(&[&[(130, 7_900, "")], &[(16, 960, ""); 9]], &[(1, 8)]);
        check(&[&[(16, 960, ""); 2], &[(130, 7_900, "")], &[(16, 960, "*")]], &[(0, 2)]);
        // One alone stays; of what is a week long nothing can come.
        check(&[&[(17, 1_030, ""), (130, 7_900, ""), (17, 1_030, "*")]], &[]);
        check(&[&[(160, 160, ""); 3]], &[]);
        check(&[&[(80, 1_030, ""); 3]], &[(0, 2)]);
        // Short ones go with what they fill.
        check(&[&[(16, 960, ""); 8], &[(1, 300, ""); 4]], &[(0, 9), (9, 3)]);
    }
}
