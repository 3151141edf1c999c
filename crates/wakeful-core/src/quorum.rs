//! Combines the results of several regions into one observation, or a fault. A
//! region that could not check has no vote: it cannot make a target down, and a
//! target that fails in some regions is only down when enough others saw it
//! fail, too. If too few could check to decide, the result is a fault and the
//! status does not change. A failure that only one probe of one region reported
//! is confirmed from another region.

use std::cmp::Reverse;

use crate::evidence::Evidence;
use crate::heartbeat::{Beat, RegionBeat};
use crate::observation::{Certificate, Contact, Fault, FaultKind, Observation, Warning};
use crate::reason::Reason;
use crate::region::{Quorum, Region};

/// Longer messages of one region are truncated, so that all fit.
const MAX_MESSAGE_LENGTH: usize = 160;

/// The result of one region.
#[derive(Clone, Debug)]
pub struct RegionResult {
    pub region: Region,
    pub outcome: Result<Observation, Fault>,
    /// Another probe of the region has confirmed the failure.
    pub confirmed: bool,
}

impl RegionResult {
    /// The result of a single checker, not confirmed by another.
    pub fn of(region: Region, outcome: Result<Observation, Fault>) -> Self {
        Self { region, outcome, confirmed: false }
    }

    /// The result as stored with the heartbeat.
    pub fn beat(&self) -> RegionBeat {
        let (status, load_time, message) = match &self.outcome {
            Ok(observation) if observation.up => match observation.warnings.first() {
                None => (Beat::Up, observation.load_time, ""),
                Some(first) => (Beat::Degraded, observation.load_time, first.words.as_str()),
            },
            Ok(observation) => (Beat::Down, observation.load_time, observation.message.as_str()),
            Err(fault) => (Beat::Unknown, None, fault.message.as_str()),
        };
        let (region, message) = (self.region.clone(), brief(message).to_owned());
        RegionBeat { region, status, load_time, message }
    }
}

/// The results of one check. `expected` is the number of regions that were
/// asked; another region may have checked in place of one that could not, or to
/// confirm a single one.
#[derive(Clone, Debug)]
pub struct RegionResults {
    pub quorum: Quorum,
    pub expected: usize,
    pub upside_down: bool,
    /// How many regions must fail to make a target degraded that is up; 0: off.
    pub partial: u8,
    pub results: Vec<RegionResult>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consensus {
    Passing,
    Failing,
    /// Some report a failure, and those that could not check might change the
    /// result.
    Undecided,
    /// No region could check.
    NoData,
}

impl RegionResults {
    /// Whether a result from one more region could settle it.
    pub fn is_undecided(&self) -> bool {
        self.consensus() == Consensus::Undecided
    }

    /// Whether a single probe is the only one to report the failure: only one
    /// region was asked, and no other probe of it could confirm. With several
    /// regions, the quorum says how many must agree.
    pub fn needs_confirmation(&self) -> bool {
        let alone = matches!(&self.results[..], [only] if !only.confirmed);
        self.expected == 1 && alone && self.consensus() == Consensus::Failing
    }

    pub fn decide(self) -> Result<Observation, Fault> {
        match self.consensus() {
            Consensus::Passing => Ok(self.observation(true)),
            Consensus::Failing => Ok(self.observation(false)),
            Consensus::Undecided => Err(self.fault(self.undecided_message())),
            Consensus::NoData => Err(self.fault(self.no_data_message())),
        }
    }

    fn fault(&self, message: String) -> Fault {
        Fault::new(self.kind(), message).with_regions(self.beats())
    }

    fn beats(&self) -> Vec<RegionBeat> {
        self.results.iter().map(RegionResult::beat).collect()
    }

    fn consensus(&self) -> Consensus {
        let (bad, good) = (self.count(false), self.count(true));
        let needed = self.quorum.of(self.expected);
        let missing = self.expected.saturating_sub(bad + good);
        match () {
            () if bad + good == 0 => Consensus::NoData,
            // The confirming region says that the target passes. That counts
            // like the word of another probe of the same region: a broken probe
            // is not an outage.
            () if self.expected == 1 && good > 0 => Consensus::Passing,
            () if bad >= needed => Consensus::Failing,
            () if bad == 0 || bad + missing < needed => Consensus::Passing,
            () => Consensus::Undecided,
        }
    }

    fn votes(&self, good: bool) -> impl Iterator<Item = (&Region, &Observation)> {
        self.results
            .iter()
            .filter_map(|result| Some((&result.region, result.outcome.as_ref().ok()?)))
            .filter(move |(_, observation)| (observation.up != self.upside_down) == good)
    }

    fn count(&self, good: bool) -> usize {
        self.votes(good).count()
    }

    /// The observation of the side that won: that of its first region, with the
    /// results of all of them.
    fn observation(&self, good: bool) -> Observation {
        let side = self.votes(good).next().map(|(_, observation)| observation.clone());
        let first =
            side.unwrap_or_else(|| Observation::down(Contact::Silence, Reason::NoReply, ""));
        let text = match good {
            _ if self.expected == 1 => self.single_region_message(&first.message, good),
            true => self.passing_message(&first.message),
            false => self.failing_message(),
        };
        let named = if good != self.upside_down {
            Observation::up(first.load_time.unwrap_or_default(), text)
        } else {
            Observation::down(first.contact, first.reason.unwrap_or(Reason::Other), text)
        };
        let warnings = if good { self.warnings() } else { Vec::new() };
        let timed = self.typical().filter(|_| good);
        let (load_time, phases) =
            timed.map_or((first.load_time, first.phases), |seen| (seen.load_time, seen.phases));
        Observation {
            load_time,
            phases,
            certificate: self.certificate(),
            evidence: self.evidence(good, warnings.first()),
            warnings,
            readings: first.readings,
            expiry: first.expiry,
            fingerprints: if good { first.fingerprints } else { Vec::new() },
            regions: self.beats(),
            ..named
        }
    }

    /// The observation of the region whose load time counts for a target that passes: as many regions
    /// as the quorum requires failed or were at least as slow. `None` if only one was asked.
    fn typical(&self) -> Option<&Observation> {
        if self.expected < 2 || self.upside_down {
            return None;
        }
        let mut passing: Vec<&Observation> = self.votes(true).map(|(_, seen)| seen).collect();
        // Slowest first, and otherwise in the order of the regions.
        passing.sort_by_key(|seen| Reverse(seen.load_time));
        let needed = self.quorum.of(self.expected).saturating_sub(self.count(false));
        passing.get(needed.clamp(1, passing.len().max(1)) - 1).copied()
    }

    /// What makes a target degraded that passes: as many regions as the quorum requires have seen
    /// a warning or a failure, or so many have seen a failure that its user wants to know.
    fn warnings(&self) -> Vec<Warning> {
        if self.upside_down {
            return Vec::new();
        }
        let warned = || self.votes(true).filter(|(_, seen)| !seen.warnings.is_empty());
        let failing = self.count(false);
        let mut warnings = Vec::new();
        if warned().count() + failing >= self.quorum.of(self.expected)
            && let Some((_, seen)) = warned().next()
        {
            warnings.extend(seen.warnings.iter().cloned());
        }
        // One region that fails and one that does not: that is a doubt, and not a part.
        if self.partial > 0 && self.expected > 1 && failing >= usize::from(self.partial) {
            let words = "failing in some regions".to_owned();
            warnings.push(Warning { reason: Reason::PartialRegions, words });
        }
        warnings
    }

    /// What the first region saw that explains the result: one that fails, if that makes a target
    /// degraded that passes, or one that warns.
    fn evidence(&self, good: bool, warning: Option<&Warning>) -> Option<Box<Evidence>> {
        let is_partial = warning.is_some_and(|first| first.reason == Reason::PartialRegions);
        let (region, seen) = self
            .votes(good && !is_partial)
            .filter(|(_, seen)| is_partial || warning.is_none() || !seen.warnings.is_empty())
            .find(|(_, seen)| seen.evidence.is_some())?;
        let evidence = seen.evidence.as_deref()?.clone();
        Some(Box::new(Evidence { region: Some(region.clone()), ..evidence }))
    }

    /// If one region was asked, its name is enough; any other region is named
    /// with its result.
    fn single_region_message(&self, message: &str, good: bool) -> String {
        let mut side = self.votes(good).map(|(region, _)| region.as_str());
        let first = format!("{message} ({}", side.next().unwrap_or_default());
        let others = side.map(|other| format!("confirmed from {other}"));
        let others = others.collect::<Vec<_>>().join("; ");
        append_parts(first, [others, describe_votes(self.votes(!good)), self.faults()]) + ")"
    }

    fn passing_message(&self, message: &str) -> String {
        let text = format!("{message} ({} of {} regions", self.count(true), self.expected);
        append_parts(text, [describe_votes(self.votes(false)), self.faults()]) + ")"
    }

    fn failing_message(&self) -> String {
        let bad = self.count(false);
        let text = format!(
            "failing in {bad} of {} regions: {}",
            self.expected,
            describe_votes(self.votes(false))
        );
        let fine: Vec<&str> = self.votes(true).map(|(region, _)| region.as_str()).collect();
        let fine =
            if fine.is_empty() { String::new() } else { format!("passing in {}", fine.join(", ")) };
        append_parts(text, [fine, self.faults()])
    }

    fn undecided_message(&self) -> String {
        format!(
            "failing in {} of {} regions, and too few regions could check to decide: {}; {}",
            self.count(false),
            self.expected,
            describe_votes(self.votes(false)),
            self.faults()
        )
    }

    fn no_data_message(&self) -> String {
        match &self.results[..] {
            [] => "no region was checked".to_owned(),
            _ => self.faults(),
        }
    }

    fn faults(&self) -> String {
        let faults = self.results.iter().filter_map(|result| {
            let fault = result.outcome.as_ref().err()?;
            Some(format!("{}: {}", result.region, brief(&fault.message)))
        });
        faults.collect::<Vec<_>>().join("; ")
    }

    /// The kind that all faults have in common, or `Probe`.
    fn kind(&self) -> FaultKind {
        let mut kinds =
            self.results.iter().filter_map(|result| Some(result.outcome.as_ref().err()?.kind));
        let first = kinds.next().unwrap_or(FaultKind::Probe);
        if kinds.all(|kind| kind == first) { first } else { FaultKind::Probe }
    }

    /// Of all certificates, the one that expires first.
    fn certificate(&self) -> Option<Box<Certificate>> {
        let shown = self.results.iter().filter_map(|result| result.outcome.as_ref().ok());
        shown
            .filter_map(|observation| observation.certificate.clone())
            .min_by_key(|shown| shown.not_after)
    }
}

fn describe_votes<'a>(votes: impl Iterator<Item = (&'a Region, &'a Observation)>) -> String {
    let parts =
        votes.map(|(region, observation)| format!("{region}: {}", brief(&observation.message)));
    parts.collect::<Vec<_>>().join("; ")
}

/// Appends the parts that are not empty.
fn append_parts<const N: usize>(text: String, parts: [String; N]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.fold(text, |text, part| text + "; " + &part)
}

fn brief(message: &str) -> &str {
    match message.char_indices().nth(MAX_MESSAGE_LENGTH) {
        Some((end, _)) => &message[..end],
        None => message,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::time::Duration;

    use super::*;
    use crate::time::Millis;

    fn region(name: &str) -> Region {
        Region::parse(name).expect("a region")
    }

    fn outcome(sign: char) -> Result<Observation, Fault> {
        match sign {
            '+' => Ok(Observation::up(Duration::from_millis(7), "200 OK")),
            '-' => Ok(Observation::down(Contact::Answered, Reason::HttpStatus, "503")),
            _ => Err(Fault::new(FaultKind::Probe, "no probe is connected")),
        }
    }

    /// One region for each sign: + passing, - failing, ? could not check.
    fn results_of(quorum: Quorum, signs: &str) -> RegionResults {
        let results: Vec<RegionResult> = signs
            .chars()
            .zip('a'..)
            .map(|(sign, name)| RegionResult::of(region(&name.to_string()), outcome(sign)))
            .collect();
        RegionResults { quorum, expected: results.len(), upside_down: false, partial: 0, results }
    }

    fn sign(quorum: Quorum, signs: &str) -> char {
        match results_of(quorum, signs).decide() {
            Ok(observation) if observation.up => '+',
            Ok(_) => '-',
            Err(_) => '?',
        }
    }

    #[test]
    fn the_quorum_decides_how_many_regions_must_agree() {
        for (signs, any, majority, all, two) in [
            ("+++", '+', '+', '+', '+'),
            ("-++", '-', '+', '+', '+'),
            ("--+", '-', '-', '+', '-'),
            ("---", '-', '-', '-', '-'),
            // A region that could not check has no vote.
            ("???", '?', '?', '?', '?'),
            ("+??", '+', '+', '+', '+'),
            ("++?", '+', '+', '+', '+'),
            // One reports a failure and the others could not check: undecided.
            ("-??", '-', '?', '?', '?'),
            ("-+?", '-', '?', '+', '?'),
            ("--?", '-', '-', '?', '-'),
        ] {
            let observation = [Quorum::Any, Quorum::Majority, Quorum::All, Quorum::Count(2)]
                .map(|quorum| sign(quorum, signs));
            assert_eq!(observation, [any, majority, all, two], "{signs}");
        }
    }

    #[test]
    fn a_target_is_as_slow_as_it_is_in_as_many_regions_as_the_quorum_requires() {
        let load_time = |quorum, signs: &str, millis: [u64; 3]| {
            let mut results = results_of(quorum, signs);
            for (result, millis) in results.results.iter_mut().zip(millis) {
                let Ok(seen) = &mut result.outcome else { continue };
                seen.load_time = seen.load_time.map(|_| Duration::from_millis(millis));
            }
            let seen = results.decide().expect("an observation");
            seen.load_time.map(|time| time.as_millis())
        };
        for (quorum, signs, millis, expected) in [
            (Quorum::Majority, "+++", [10, 900, 800], 800),
            (Quorum::Majority, "+++", [900, 10, 20], 20),
            (Quorum::Any, "+++", [10, 900, 20], 900),
            (Quorum::All, "+++", [10, 900, 800], 10),
            // The region that fails is one of the two.
            (Quorum::Majority, "+-+", [10, 0, 900], 900),
            (Quorum::Majority, "+?+", [10, 0, 900], 10),
        ] {
            assert_eq!(
                load_time(quorum, signs, millis),
                Some(expected),
                "{quorum:?} {signs} {millis:?}"
            );
        }
    }

    #[test]
    fn the_evidence_is_that_of_a_region_that_explains_the_result() {
        let seen = |signs: &str, partial, warning: Option<usize>| {
            let mut results = RegionResults { partial, ..results_of(Quorum::Majority, signs) };
            for (position, result) in results.results.iter_mut().enumerate() {
                let Ok(seen) = &mut result.outcome else { continue };
                seen.evidence = Some(Box::default());
                if warning.is_some_and(|first| position >= first) {
                    let words = "slow".to_owned();
                    seen.warnings.push(Warning { reason: Reason::Slow, words });
                }
            }
            let seen = results.decide().expect("an observation");
            seen.evidence.and_then(|evidence| evidence.region).map(|region| region.to_string())
        };
        let named = |name: &str| Some(name.to_owned());
        assert_eq!(seen("+++", 1, None), named("a"));
        assert_eq!(seen("+--", 1, None), named("b"), "down");
        assert_eq!(seen("++-", 1, None), named("c"), "degraded, because it fails in some regions");
        assert_eq!(seen("++-", 0, None), named("a"), "that does not matter");
        assert_eq!(seen("+++", 1, Some(1)), named("b"), "degraded, because of warnings");
    }

    #[test]
    fn another_region_replaces_one_that_cannot_check() {
        for (mine, consensus) in [('-', '-'), ('+', '+')] {
            let mut results = results_of(Quorum::Majority, "-?");
            assert!(results.is_undecided());
            results.results.push(RegionResult::of(Region::local(), outcome(mine)));
            let observation = results.decide().expect("settled");
            assert_eq!(observation.up, consensus == '+', "{mine}");
        }
        assert!(!results_of(Quorum::Majority, "??").is_undecided(), "no region reports a failure");
    }

    #[test]
    fn the_message_names_each_region_with_its_result() {
        for (quorum, signs, text) in [
            (Quorum::Majority, "+++", "200 OK (3 of 3 regions)"),
            (Quorum::Majority, "-++", "200 OK (2 of 3 regions; a: 503)"),
            (Quorum::Majority, "--+", "failing in 2 of 3 regions: a: 503; b: 503; passing in c"),
            (
                Quorum::Any,
                "-+?",
                "failing in 1 of 3 regions: a: 503; passing in b; c: no probe is connected",
            ),
            (Quorum::Majority, "++?", "200 OK (2 of 3 regions; c: no probe is connected)"),
            (Quorum::Majority, "+", "200 OK (a)"),
            (Quorum::Majority, "-", "503 (a)"),
        ] {
            assert_eq!(
                results_of(quorum, signs).decide().expect("an observation").message,
                text,
                "{signs}"
            );
        }
        for (signs, text) in [
            ("?", "a: no probe is connected"),
            (
                "-?",
                "failing in 1 of 2 regions, and too few regions could check to decide: a: 503; b: no probe is connected",
            ),
        ] {
            assert_eq!(results_of(Quorum::All, signs).decide().expect_err("a fault").message, text);
        }
    }

    /// The reasons of the warnings, where ~ passes with one.
    fn warned(quorum: Quorum, partial: u8, signs: &str) -> Option<Vec<Reason>> {
        let mut results = results_of(quorum, &signs.replace('~', "+"));
        results.partial = partial;
        for (result, sign) in results.results.iter_mut().zip(signs.chars()) {
            if let (Ok(seen), '~') = (&mut result.outcome, sign) {
                seen.warnings.push(Warning { reason: Reason::Slow, words: "odd".to_owned() });
            }
        }
        let seen = results.decide().ok().filter(|seen| seen.up)?;
        Some(seen.warnings.iter().map(|warning| warning.reason).collect())
    }

    #[test]
    fn enough_regions_with_warnings_or_failures_make_a_target_degraded() {
        let (slow, part) = (Reason::Slow, Reason::PartialRegions);
        for (quorum, partial, signs, expected) in [
            (Quorum::Majority, 1, "+++", Some(vec![])),
            (Quorum::Majority, 1, "-++", Some(vec![part])),
            (Quorum::Majority, 0, "-++", Some(vec![])),
            (Quorum::Majority, 2, "-++", Some(vec![])),
            (Quorum::All, 2, "--+", Some(vec![part])),
            (Quorum::Majority, 1, "--+", None),
            // Undecided.
            (Quorum::Majority, 1, "-??", None),
            (Quorum::Majority, 1, "~++", Some(vec![])),
            (Quorum::Majority, 1, "~~+", Some(vec![slow])),
            (Quorum::Majority, 1, "~-+", Some(vec![slow, part])),
            (Quorum::Majority, 0, "~-+", Some(vec![slow])),
            (Quorum::Any, 1, "~++", Some(vec![slow])),
            (Quorum::Majority, 1, "~", Some(vec![slow])),
        ] {
            assert_eq!(warned(quorum, partial, signs), expected, "{quorum:?} {partial} {signs}");
        }
        let mut results = results_of(Quorum::Majority, "++");
        if let Ok(seen) = &mut results.results[1].outcome {
            seen.warnings.push(Warning { reason: Reason::Slow, words: "odd".to_owned() });
        }
        assert_eq!(signs_of(&results.decide().expect("an observation").regions), "a+ b~");
    }

    #[test]
    fn a_failure_reported_by_a_single_probe_is_confirmed_from_another_region() {
        for (signs, wants) in [("-", true), ("+", false), ("?", false), ("-?", false)] {
            assert_eq!(results_of(Quorum::Any, signs).needs_confirmation(), wants, "{signs}");
        }
        let mut sure = results_of(Quorum::Any, "-");
        sure.results[0].confirmed = true;
        assert!(!sure.needs_confirmation(), "another probe of the region confirmed it");
        for (witness, up, text) in [
            ('-', false, "503 (a; confirmed from eu)"),
            ('+', true, "200 OK (eu; a: 503)"),
            ('?', false, "503 (a; eu: no probe is connected)"),
        ] {
            let mut results = results_of(Quorum::Majority, "-");
            results.results.push(RegionResult::of(region("eu"), outcome(witness)));
            assert!(!results.needs_confirmation(), "one confirmation is enough");
            let observation = results.decide().expect("an observation");
            assert_eq!((observation.up, observation.message.as_str()), (up, text));
            // Whichever result counts, the region's own vote does not change.
            let beats = signs_of(&observation.regions);
            assert_eq!(beats, format!("a- eu{witness}"));
        }
    }

    /// Each region with its sign.
    fn signs_of(beats: &[RegionBeat]) -> String {
        let sign = |beat: &RegionBeat| match beat.status {
            Beat::Up => format!("{}+", beat.region),
            Beat::Degraded => format!("{}~", beat.region),
            Beat::Down => format!("{}-", beat.region),
            Beat::Unknown => format!("{}?", beat.region),
        };
        beats.iter().map(sign).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_region_keeps_its_result() {
        let observation = results_of(Quorum::Any, "+-?").decide().expect("an observation");
        assert_eq!(signs_of(&observation.regions), "a+ b- c?");
        assert!(observation.regions[0].load_time.is_some());
        // Also when they did not settle anything.
        for (signs, beats) in [("-+?", "a- b+ c?"), ("?", "a?"), ("??", "a? b?")] {
            let fault = results_of(Quorum::Majority, signs).decide().expect_err("a fault");
            assert_eq!(signs_of(&fault.regions), beats);
        }
    }

    #[test]
    fn upside_down_a_passing_check_counts_as_failing() {
        for (signs, fails) in [("+-", true), ("--", false)] {
            let results = RegionResults { upside_down: true, ..results_of(Quorum::Any, signs) };
            assert_eq!(results.decide().expect("an observation").up, fails, "{signs}");
        }
    }

    #[test]
    fn the_certificate_that_expires_first_is_the_one_to_warn_about() {
        let shown = |at| {
            let certificate = Certificate {
                subject: "a".into(),
                issuer: "b".into(),
                names: Vec::new(),
                not_after: Millis(at),
                trusted: true,
                chain: Vec::new(),
            };
            outcome('+').map(|observation| observation.with_certificate(Some(certificate)))
        };
        let mut results = results_of(Quorum::Majority, "++");
        (results.results[0].outcome, results.results[1].outcome) = (shown(9), shown(5));
        let certificate =
            results.decide().expect("an observation").certificate.expect("a certificate");
        assert_eq!(certificate.not_after, Millis(5));
    }

    #[test]
    fn faults_of_the_same_kind_give_a_fault_of_that_kind() {
        let mut results = results_of(Quorum::Majority, "??");
        for result in &mut results.results {
            result.outcome = Err(Fault::new(FaultKind::Egress, "denied"));
        }
        assert_eq!(results.clone().decide().expect_err("a fault").kind, FaultKind::Egress);
        results.results[0].outcome = outcome('?');
        assert_eq!(results.decide().expect_err("a fault").kind, FaultKind::Probe);
    }

    fn quorums() -> impl Strategy<Value = Quorum> {
        prop_oneof![
            Just(Quorum::Any),
            Just(Quorum::Majority),
            Just(Quorum::All),
            (1_u8..=8).prop_map(Quorum::Count)
        ]
    }

    proptest! {
        #[test]
        fn faults_alone_never_make_a_verdict(quorum in quorums(), count in 1_usize..8) {
            prop_assert_eq!(sign(quorum, &"?".repeat(count)), '?');
        }

        #[test]
        fn one_more_failing_region_never_makes_it_up_and_one_less_never_down(
            quorum in quorums(), signs in "[-+?]{1,8}", at in 0_usize..8,
        ) {
            let at = at % signs.len();
            let with = |sign: &str| {
                let mut changed = signs.clone();
                changed.replace_range(at..=at, sign);
                super::tests::sign(quorum, &changed)
            };
            let (failing, blind, fine) = (with("-"), with("?"), with("+"));
            if fine == '-' { prop_assert_eq!(failing, '-'); }
            if failing == '+' { prop_assert_eq!(fine, '+'); }
            // Losing the result of a region never makes a target go down.
            if blind == '-' { prop_assert_eq!(failing, '-'); }
            if failing != '-' && fine != '-' { prop_assert_ne!(blind, '-'); }
        }

        #[test]
        fn no_target_is_down_without_a_failing_region(quorum in quorums(), signs in "[+?]{1,8}") {
            prop_assert_ne!(sign(quorum, &signs), '-');
        }
    }
}
