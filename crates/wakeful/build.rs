//! Passes the commit and its date to `wakeful --version`. They come from `SOURCE_COMMIT`
//! and `SOURCE_DATE_EPOCH` or, for an optimized build in a clone, from git; without either, the
//! version stands alone. No clock, so that a build can be repeated. Debug builds do not
//! ask git, because every commit would then compile this crate again.

use std::process::Command;

fn main() {
    for variable in ["SOURCE_COMMIT", "SOURCE_DATE_EPOCH"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let optimized = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let git = |arguments: &[&str]| if optimized { output("git", arguments) } else { None };
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    let given = |variable: &str| std::env::var(variable).ok().filter(|value| !value.is_empty());
    let commit = given("SOURCE_COMMIT").or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    let seconds = given("SOURCE_DATE_EPOCH").or_else(|| git(&["log", "-1", "--format=%ct"]));
    let date = seconds.and_then(|seconds| seconds.parse().ok()).map(date);
    let mut version = env!("CARGO_PKG_VERSION").to_owned();
    match (commit, date) {
        (Some(commit), Some(date)) => version.push_str(&format!(" (commit {commit}, {date})")),
        (Some(commit), None) => version.push_str(&format!(" (commit {commit})")),
        (None, Some(date)) => version.push_str(&format!(" ({date})")),
        (None, None) => {}
    }
    println!("cargo:rustc-env=WAKEFUL_VERSION={version}");
    for argument in if optimized { linker_arguments() } else { &[] } {
        println!("cargo:rustc-link-arg-bins=-Wl,{argument}");
    }
}

/// What makes the binary, and the memory that its pages take, smaller. Only the linker that Rust
/// brings for x86-64 Linux can make one of functions with the same code. Packed relocations need
/// glibc 2.36 or later; a static binary relocates itself.
fn linker_arguments() -> &'static [&'static str] {
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    match (target("ARCH").as_str(), target("OS").as_str(), target("ENV").as_str()) {
        (_, _, "musl") => &["-z,pack-relative-relocs"],
        ("x86_64", "linux", "gnu") if glibc() >= Some((2, 36)) => {
            &["--icf=all", "-z,pack-relative-relocs"]
        }
        ("x86_64", "linux", "gnu") => &["--icf=all"],
        _ => &[],
    }
}

/// The version of this machine's glibc.
fn glibc() -> Option<(u32, u32)> {
    let text = output("getconf", &["GNU_LIBC_VERSION"])?;
    let (major, minor) = text.strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// What a command prints; `None` if it fails, as git does outside of a clone.
fn output(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The day of a Unix time, such as 2026-11-17: years are counted from March, so that the
/// leap day is the last of its year.
fn date(seconds: i64) -> String {
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    format!("{:04}-{month:02}-{day:02}", year + era * 400)
}
