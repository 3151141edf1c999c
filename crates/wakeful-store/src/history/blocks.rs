//! Decides which block a heartbeat belongs to, and which blocks to join. Pure:
//! `compaction.rs` writes the result.

use std::collections::BTreeMap;
use wakeful_core::history::block_codec::{BLOCK_CAPACITY, PackedBlock, pack};
use wakeful_core::history::{Entry, in_order};

use crate::dialect::from_row;

/// A block spans less than a week, so that data is deleted soon after it passes
/// the retention limit, and blocks that touch a time are found by their start.
pub(super) const MAX_BLOCK_SPAN: i64 = 7 * 24 * 3_600_000;

/// The hourly compaction writes a short block, so that no existing block has to be
/// rewritten. Adjacent short blocks are later joined into one longer than this,
/// and into a full block after their phases have been deleted.
const SHORT_BLOCK_SPAN: i64 = 8 * 3_600_000;

/// Blocks are joined once in this many compactions of a monitor.
const JOIN_INTERVAL: i64 = 16;

/// Whether the compaction with this number joins blocks.
pub(super) fn joins_blocks(revision: i64) -> bool {
    revision % JOIN_INTERVAL == JOIN_INTERVAL - 1
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

/// A block to write.
pub(super) struct NewBlock {
    /// The times of the first and the last entry.
    pub(super) from: i64,
    pub(super) to: i64,
    /// The number of entries.
    pub(super) count: i64,
    pub(super) packed: PackedBlock,
}

/// Assigns new heartbeats to the blocks they belong to; those after the last
/// block start a new one.
pub(super) fn by_block(blocks: &[Index], recent: &[Entry]) -> Vec<(Option<i64>, Vec<Entry>)> {
    let mut sorted: BTreeMap<Option<i64>, Vec<Entry>> = BTreeMap::new();
    for entry in recent {
        let at = entry.heartbeat.at.0;
        let next = blocks.partition_point(|block| block.from <= at);
        let block = next.checked_sub(1).map(|index| &blocks[index]);
        let is_after_all = |block: &&Index| next == blocks.len() && block.to < at;
        let block = block.filter(|block| !is_after_all(block)).map(|block| block.from);
        sorted.entry(block).or_default().push(entry.clone());
    }
    sorted.into_iter().collect()
}

/// Runs of adjacent blocks to join.
pub(super) fn runs_to_join(mut blocks: &[Index]) -> Vec<&[Index]> {
    let mut rows = Vec::new();
    while !blocks.is_empty() {
        let length = full_run(blocks).or_else(|| short_run(blocks)).unwrap_or(1);
        let (row, rest) = blocks.split_at(length);
        if length > 1 {
            rows.push(row);
        }
        blocks = rest;
    }
    rows
}

/// The length of the first run that fills a block, or as much of it as a week
/// allows, so that the next block would not fit. Their phases have been deleted.
fn full_run(blocks: &[Index]) -> Option<usize> {
    let is_small = |block: &Index| block.count < BLOCK_CAPACITY as i64 / 2;
    let fits = |length: &usize| is_small(&blocks[*length]) && fit(&blocks[..=*length]);
    let length = (0..blocks.len()).find(|length| blocks[*length].has_phases || !fits(length))?;
    (length > 1 && !fits(&length)).then_some(length)
}

/// The length of the first run of short blocks; all have phases, or none has.
fn short_run(blocks: &[Index]) -> Option<usize> {
    let is_like = |block: &Index| {
        block.to - block.from < SHORT_BLOCK_SPAN && block.has_phases == blocks[0].has_phases
    };
    let length = (0..blocks.len())
        .take_while(|length| is_like(&blocks[*length]) && fit(&blocks[..=*length]))
        .count();
    (length > 1).then_some(length)
}

/// Whether a run fits into one block.
fn fit(row: &[Index]) -> bool {
    let count: i64 = row.iter().map(|block| block.count).sum();
    let is_a_week = |first: &Index, last: &Index| last.to - first.from >= MAX_BLOCK_SPAN;
    count <= BLOCK_CAPACITY as i64
        && !row.first().zip(row.last()).is_some_and(|(first, last)| is_a_week(first, last))
}

pub(super) fn packed(entries: Vec<Entry>) -> (Vec<NewBlock>, Vec<Entry>) {
    let entries = in_order(entries);
    let block = |chunk: &[Entry]| {
        let (first, last) = (&chunk[0].heartbeat, &chunk[chunk.len() - 1].heartbeat);
        let count = chunk.len() as i64;
        NewBlock { from: first.at.0, to: last.at.0, count, packed: pack(chunk) }
    };
    let blocks = chunks(&entries).into_iter().map(block).collect();
    (blocks, entries)
}

/// Splits entries into chunks of at most a block. Heartbeats of the same
/// millisecond stay together: a block is found by the time of its first one.
fn chunks(entries: &[Entry]) -> Vec<&[Entry]> {
    let mut chunks = Vec::new();
    let mut rest = entries;
    while !rest.is_empty() {
        let until = rest[0].heartbeat.at.0.saturating_add(MAX_BLOCK_SPAN);
        let mut end =
            rest.partition_point(|entry| entry.heartbeat.at.0 < until).clamp(1, BLOCK_CAPACITY);
        while end < rest.len() && rest[end].heartbeat.at == rest[end - 1].heartbeat.at {
            end += 1;
        }
        let (chunk, remaining) = rest.split_at(end);
        chunks.push(chunk);
        rest = remaining;
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adjacent blocks of (hours, count, phases); `*` has phases.
    fn blocks(described: &[(i64, i64, &str)]) -> Vec<Index> {
        let mut from = 0;
        let block = |(hours, count, phases): &(i64, i64, &str)| {
            let begin = from;
            from += hours * 3_600_000;
            Index { from: begin, to: from - 1, count: *count, has_phases: *phases == "*" }
        };
        described.iter().map(block).collect()
    }

    /// Expects runs as the index of their first block and their length.
    #[track_caller]
    fn check(described: &[&[(i64, i64, &str)]], expected: &[(usize, usize)]) {
        let blocks = blocks(&described.concat());
        let place = |row: &[Index]| blocks.iter().position(|block| block.from == row[0].from);
        let rows = runs_to_join(&blocks);
        let rows: Vec<_> = rows.iter().map(|row| (place(row).expect("known"), row.len())).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn adjacent_short_blocks_are_joined() {
        check(&[&[(1, 60, "*"); 16]], &[(0, 16)]);
        check(&[&[(1, 60, "*")]], &[]);
        check(&[&[(16, 960, "*"); 4], &[(1, 60, "*"); 16]], &[(4, 16)]);
        check(&[&[(16, 960, ""); 2], &[(1, 60, ""); 16]], &[(2, 16)]);
        // Phases are deleted by whole blocks.
        check(&[&[(1, 60, ""); 3], &[(1, 60, "*"); 2]], &[(0, 3), (3, 2)]);
        // No more than a block's capacity, and no more than a week.
        check(&[&[(1, 3_600, "*"); 5]], &[(0, 2), (2, 2)]);
        check(&[&[(7, 5, "*"); 30]], &[(0, 24), (24, 6)]);
    }

    #[test]
    fn blocks_without_phases_are_joined_when_no_more_fits() {
        check(&[&[(16, 960, ""); 8]], &[]);
        check(&[&[(16, 960, ""); 9]], &[(0, 8)]);
        check(&[&[(16, 960, "*"); 20]], &[]);
        // The next block still has its phases, and fits or does not.
        check(&[&[(16, 960, ""); 3], &[(16, 960, "*"); 9]], &[]);
        check(&[&[(16, 960, ""); 8], &[(16, 960, "*"); 4]], &[(0, 8)]);
        check(&[&[(130, 7_900, "")], &[(16, 960, ""); 9]], &[(1, 8)]);
        check(&[&[(16, 960, ""); 2], &[(130, 7_900, "")], &[(16, 960, "*")]], &[(0, 2)]);
        // A single block stays as it is; blocks of a week cannot be joined.
        check(&[&[(17, 1_030, ""), (130, 7_900, ""), (17, 1_030, "*")]], &[]);
        check(&[&[(160, 160, ""); 3]], &[]);
        check(&[&[(80, 1_030, ""); 3]], &[(0, 2)]);
        // Short blocks are joined with the run that they complete.
        check(&[&[(16, 960, ""); 8], &[(1, 300, ""); 4]], &[(0, 9), (9, 3)]);
    }
}
