//! Kernel statistics of a process: processor time and memory.

use std::fs;
use std::time::Duration;

use crate::Outcome;

/// Ticks per second in /proc: fixed for programs on Linux, whatever the
/// kernel's own rate.
const TICKS: u64 = 100;

/// User and system time of all threads so far.
pub fn cpu(pid: u32) -> Outcome<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in brackets may contain anything, so the fields are counted
    // after it.
    let (_, fields) = stat.rsplit_once(')').ok_or("a process without a name")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index).and_then(|text| text.parse::<u64>().ok());
    let (user, system) = ticks(11).zip(ticks(12)).ok_or("a process without times")?;
    Ok(Duration::from_millis((user + system) * 1_000 / TICKS))
}

/// Bytes in memory now.
pub fn resident(pid: u32) -> Outcome<u64> {
    status(pid, "VmRSS:")
}

/// Bytes in memory now, shared pages counted in proportion.
pub fn proportional(pid: u32) -> Outcome<u64> {
    kib(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?, "Pss:")
}

/// The peak number of bytes in memory so far.
pub fn peak(pid: u32) -> Outcome<u64> {
    status(pid, "VmHWM:")
}

fn status(pid: u32, name: &str) -> Outcome<u64> {
    kib(&fs::read_to_string(format!("/proc/{pid}/status"))?, name)
}

/// The bytes on the line that starts with this name.
fn kib(text: &str, name: &str) -> Outcome<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("no such line")?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kib * 1_024)
}
