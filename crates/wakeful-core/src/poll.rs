//! What several regions saw becomes one observation, or a fault. A region that
//! could not look has no vote: it makes no target down, and a target that some
//! see failing is only down when enough others saw it fail too. Where too few
//! could look to tell, the answer is a fault, and the status stays. What one
//! probe of one region alone saw failing is looked at once more from elsewhere.

use crate::observation::{Certificate, Evidence, Fault, FaultKind, Observation};
use crate::region::{Quorum, Region, RegionBeat};
use crate::verdict::Beat;

/// Longer words of one region are cut, so that all have their place.
const LONGEST_WORDS: usize = 160;

/// What one region brings back.
#[derive(Clone, Debug)]
pub struct Answer {
    pub region: Region,
    pub looked: Result<Observation, Fault>,
    /// Another probe of the region has seen the failure as well.
    pub confirmed: bool,
}

impl Answer {
    /// What somebody saw, or could not see, with nobody beside.
    pub fn of(region: Region, looked: Result<Observation, Fault>) -> Self {
        Self { region, looked, confirmed: false }
    }

    /// What is kept of it with the heartbeat.
    pub fn beat(&self) -> RegionBeat {
        let (status, load_time, message) = match &self.looked {
            Ok(seen) if seen.up => (Beat::Up, seen.load_time, ""),
            Ok(seen) => (Beat::Down, seen.load_time, seen.message.as_str()),
            Err(fault) => (Beat::Unknown, None, fault.message.as_str()),
        };
        let (region, message) = (self.region.clone(), brief(message).to_owned());
        RegionBeat { region, status, load_time, message }
    }
}

/// The answers to one check. `seats` is how many regions were asked; somebody
/// else may have looked in place of one that could not, or beside a single one.
#[derive(Clone, Debug)]
pub struct Poll {
    pub quorum: Quorum,
    pub seats: usize,
    pub upside_down: bool,
    pub answers: Vec<Answer>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    Good,
    Bad,
    /// Some see it failing, and those who could not look might turn it.
    Doubt,
    /// Nobody could look.
    Nothing,
}

impl Poll {
    /// Whether one more pair of eyes could settle it.
    pub fn in_doubt(&self) -> bool {
        self.sum() == Sum::Doubt
    }

    /// Whether all there is against the target is the word of one probe: the
    /// only region that was asked has no other that could have looked again.
    /// With several regions, the quorum says how many must agree.
    pub fn wants_witness(&self) -> bool {
        let alone = matches!(&self.answers[..], [only] if !only.confirmed);
        self.seats == 1 && alone && self.sum() == Sum::Bad
    }

    pub fn decide(self) -> Result<Observation, Fault> {
        match self.sum() {
            Sum::Good => Ok(self.seen(true)),
            Sum::Bad => Ok(self.seen(false)),
            Sum::Doubt => Err(self.fault(self.doubt())),
            Sum::Nothing => Err(self.fault(self.nothing())),
        }
    }

    fn fault(&self, message: String) -> Fault {
        Fault::new(self.kind(), message).with_regions(self.beats())
    }

    fn beats(&self) -> Vec<RegionBeat> {
        self.answers.iter().map(Answer::beat).collect()
    }

    fn sum(&self) -> Sum {
        let (bad, good) = (self.count(false), self.count(true));
        let needed = self.quorum.of(self.seats);
        let missing = self.seats.saturating_sub(bad + good);
        match () {
            () if bad + good == 0 => Sum::Nothing,
            // A witness says that all is well, which is believed as it is of
            // another probe of the same region: a probe in trouble is no outage.
            () if self.seats == 1 && good > 0 => Sum::Good,
            () if bad >= needed => Sum::Bad,
            () if bad == 0 || bad + missing < needed => Sum::Good,
            () => Sum::Doubt,
        }
    }

    fn votes(&self, good: bool) -> impl Iterator<Item = (&Region, &Observation)> {
        self.answers
            .iter()
            .filter_map(|answer| Some((&answer.region, answer.looked.as_ref().ok()?)))
            .filter(move |(_, seen)| (seen.up != self.upside_down) == good)
    }

    fn count(&self, good: bool) -> usize {
        self.votes(good).count()
    }

    /// The observation of the side that counts: that of its first region, with
    /// what all of them saw.
    fn seen(&self, good: bool) -> Observation {
        let side = self.votes(good).next().map(|(_, seen)| seen.clone());
        let first = side.unwrap_or_else(|| Observation::down(Evidence::Silence, ""));
        let words = match good {
            _ if self.seats == 1 => self.words_of_one(&first.message, good),
            true => self.good_words(&first.message),
            false => self.bad_words(),
        };
        let named = match good != self.upside_down {
            true => Observation::up(first.load_time.unwrap_or_default(), words),
            false => Observation::down(first.evidence, words),
        };
        Observation {
            load_time: first.load_time,
            phases: first.phases,
            certificate: self.certificate(),
            regions: self.beats(),
            ..named
        }
    }

    /// Where one region was asked, its name is enough; whoever looked besides
    /// is named with what they saw.
    fn words_of_one(&self, message: &str, good: bool) -> String {
        let mut side = self.votes(good).map(|(region, _)| region.as_str());
        let first = format!("{message} ({}", side.next().unwrap_or_default());
        let others = side.map(|other| format!("confirmed from {other}"));
        let others = others.collect::<Vec<_>>().join("; ");
        listed(first, [others, told(self.votes(!good)), self.faults()]) + ")"
    }

    fn good_words(&self, message: &str) -> String {
        let words = format!("{message} ({} of {} regions", self.count(true), self.seats);
        listed(words, [told(self.votes(false)), self.faults()]) + ")"
    }

    fn bad_words(&self) -> String {
        let bad = self.count(false);
        let words =
            format!("failing in {bad} of {} regions: {}", self.seats, told(self.votes(false)));
        let fine: Vec<&str> = self.votes(true).map(|(region, _)| region.as_str()).collect();
        let fine = match fine.is_empty() {
            true => String::new(),
            false => format!("fine in {}", fine.join(", ")),
        };
        listed(words, [fine, self.faults()])
    }

    fn doubt(&self) -> String {
        format!(
            "failing in {} of {} regions, and too few could look to tell: {}; {}",
            self.count(false),
            self.seats,
            told(self.votes(false)),
            self.faults()
        )
    }

    fn nothing(&self) -> String {
        match &self.answers[..] {
            [] => "no region was asked".to_owned(),
            _ => self.faults(),
        }
    }

    fn faults(&self) -> String {
        let faults = self.answers.iter().filter_map(|answer| {
            let fault = answer.looked.as_ref().err()?;
            Some(format!("{}: {}", answer.region, brief(&fault.message)))
        });
        faults.collect::<Vec<_>>().join("; ")
    }

    /// The kind that all faults have in common, or that of regions in general.
    fn kind(&self) -> FaultKind {
        let mut kinds =
            self.answers.iter().filter_map(|answer| Some(answer.looked.as_ref().err()?.kind));
        let first = kinds.next().unwrap_or(FaultKind::Probe);
        if kinds.all(|kind| kind == first) { first } else { FaultKind::Probe }
    }

    /// Of the certificates that were shown, the one that runs out first.
    fn certificate(&self) -> Option<Box<Certificate>> {
        let shown = self.answers.iter().filter_map(|answer| answer.looked.as_ref().ok());
        shown.filter_map(|seen| seen.certificate.clone()).min_by_key(|shown| shown.not_after)
    }
}

fn told<'a>(votes: impl Iterator<Item = (&'a Region, &'a Observation)>) -> String {
    let parts = votes.map(|(region, seen)| format!("{region}: {}", brief(&seen.message)));
    parts.collect::<Vec<_>>().join("; ")
}

/// The words with the parts that there are.
fn listed<const N: usize>(words: String, parts: [String; N]) -> String {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.fold(words, |words, part| words + "; " + &part)
}

fn brief(message: &str) -> &str {
    match message.char_indices().nth(LONGEST_WORDS) {
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

    fn looked(sign: char) -> Result<Observation, Fault> {
        match sign {
            '+' => Ok(Observation::up(Duration::from_millis(7), "200 OK")),
            '-' => Ok(Observation::down(Evidence::Answered, "503")),
            _ => Err(Fault::new(FaultKind::Probe, "no probe is connected")),
        }
    }

    /// One region for each sign: + fine, - failing, ? could not look.
    fn poll(quorum: Quorum, signs: &str) -> Poll {
        let answers: Vec<Answer> = signs
            .chars()
            .zip('a'..)
            .map(|(sign, name)| Answer::of(region(&name.to_string()), looked(sign)))
            .collect();
        Poll { quorum, seats: answers.len(), upside_down: false, answers }
    }

    fn sign(quorum: Quorum, signs: &str) -> char {
        match poll(quorum, signs).decide() {
            Ok(seen) if seen.up => '+',
            Ok(_) => '-',
            Err(_) => '?',
        }
    }

    #[test]
    fn as_many_regions_must_agree_as_the_quorum_says() {
        for (signs, any, majority, all, two) in [
            ("+++", '+', '+', '+', '+'),
            ("-++", '-', '+', '+', '+'),
            ("--+", '-', '-', '+', '-'),
            ("---", '-', '-', '-', '-'),
            // Who could not look has no vote.
            ("???", '?', '?', '?', '?'),
            ("+??", '+', '+', '+', '+'),
            ("++?", '+', '+', '+', '+'),
            // One sees it failing and the others cannot tell: neither do we.
            ("-??", '-', '?', '?', '?'),
            ("-+?", '-', '?', '+', '?'),
            ("--?", '-', '-', '?', '-'),
        ] {
            let seen = [Quorum::Any, Quorum::Majority, Quorum::All, Quorum::Count(2)]
                .map(|quorum| sign(quorum, signs));
            assert_eq!(seen, [any, majority, all, two], "{signs}");
        }
    }

    #[test]
    fn another_pair_of_eyes_takes_the_place_of_a_region_that_cannot_look() {
        for (mine, sum) in [('-', '-'), ('+', '+')] {
            let mut poll = poll(Quorum::Majority, "-?");
            assert!(poll.in_doubt());
            poll.answers.push(Answer::of(Region::local(), looked(mine)));
            let seen = poll.decide().expect("settled");
            assert_eq!(seen.up, sum == '+', "{mine}");
        }
        assert!(!poll(Quorum::Majority, "??").in_doubt(), "nobody saw it failing");
    }

    #[test]
    fn the_message_says_which_regions_saw_what() {
        for (quorum, signs, words) in [
            (Quorum::Majority, "+++", "200 OK (3 of 3 regions)"),
            (Quorum::Majority, "-++", "200 OK (2 of 3 regions; a: 503)"),
            (Quorum::Majority, "--+", "failing in 2 of 3 regions: a: 503; b: 503; fine in c"),
            (
                Quorum::Any,
                "-+?",
                "failing in 1 of 3 regions: a: 503; fine in b; c: no probe is connected",
            ),
            (Quorum::Majority, "++?", "200 OK (2 of 3 regions; c: no probe is connected)"),
            (Quorum::Majority, "+", "200 OK (a)"),
            (Quorum::Majority, "-", "503 (a)"),
        ] {
            assert_eq!(poll(quorum, signs).decide().expect("seen").message, words, "{signs}");
        }
        for (signs, words) in [
            ("?", "a: no probe is connected"),
            (
                "-?",
                "failing in 1 of 2 regions, and too few could look to tell: a: 503; b: no probe is connected",
            ),
        ] {
            assert_eq!(poll(Quorum::All, signs).decide().expect_err("a fault").message, words);
        }
    }

    #[test]
    fn what_one_probe_alone_saw_failing_is_looked_at_from_elsewhere() {
        for (signs, wants) in [("-", true), ("+", false), ("?", false), ("-?", false)] {
            assert_eq!(poll(Quorum::Any, signs).wants_witness(), wants, "{signs}");
        }
        let mut sure = poll(Quorum::Any, "-");
        sure.answers[0].confirmed = true;
        assert!(!sure.wants_witness(), "another probe of the region saw it, too");
        for (witness, up, words) in [
            ('-', false, "503 (a; confirmed from eu)"),
            ('+', true, "200 OK (eu; a: 503)"),
            ('?', false, "503 (a; eu: no probe is connected)"),
        ] {
            let mut poll = poll(Quorum::Majority, "-");
            poll.answers.push(Answer::of(region("eu"), looked(witness)));
            assert!(!poll.wants_witness(), "one is enough");
            let seen = poll.decide().expect("seen");
            assert_eq!((seen.up, seen.message.as_str()), (up, words));
            // Whoever is believed, the region's own vote stays what it was.
            let beats = signs_of(&seen.regions);
            assert_eq!(beats, format!("a- eu{witness}"));
        }
    }

    /// Each region with its sign.
    fn signs_of(beats: &[RegionBeat]) -> String {
        let sign = |beat: &RegionBeat| match beat.status {
            Beat::Up => format!("{}+", beat.region),
            Beat::Down => format!("{}-", beat.region),
            Beat::Unknown => format!("{}?", beat.region),
        };
        beats.iter().map(sign).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn every_region_keeps_what_it_saw() {
        let seen = poll(Quorum::Any, "+-?").decide().expect("seen");
        assert_eq!(signs_of(&seen.regions), "a+ b- c?");
        assert!(seen.regions[0].load_time.is_some());
        // Also where it did not settle anything.
        for (signs, beats) in [("-+?", "a- b+ c?"), ("?", "a?"), ("??", "a? b?")] {
            let fault = poll(Quorum::Majority, signs).decide().expect_err("a fault");
            assert_eq!(signs_of(&fault.regions), beats);
        }
    }

    #[test]
    fn upside_down_an_answer_is_what_fails() {
        for (signs, fails) in [("+-", true), ("--", false)] {
            let poll = Poll { upside_down: true, ..poll(Quorum::Any, signs) };
            assert_eq!(poll.decide().expect("seen").up, fails, "{signs}");
        }
    }

    #[test]
    fn the_certificate_that_runs_out_first_is_the_one_to_warn_of() {
        let shown = |at| {
            let certificate = Certificate {
                subject: "a".into(),
                issuer: "b".into(),
                names: Vec::new(),
                not_after: Millis(at),
                trusted: true,
                chain: Vec::new(),
            };
            looked('+').map(|seen| seen.with_certificate(Some(certificate)))
        };
        let mut poll = poll(Quorum::Majority, "++");
        (poll.answers[0].looked, poll.answers[1].looked) = (shown(9), shown(5));
        let kept = poll.decide().expect("seen").certificate.expect("a certificate");
        assert_eq!(kept.not_after, Millis(5));
    }

    #[test]
    fn faults_of_one_kind_stay_of_that_kind() {
        let mut poll = poll(Quorum::Majority, "??");
        for answer in &mut poll.answers {
            answer.looked = Err(Fault::new(FaultKind::Egress, "denied"));
        }
        assert_eq!(poll.clone().decide().expect_err("a fault").kind, FaultKind::Egress);
        poll.answers[0].looked = looked('?');
        assert_eq!(poll.decide().expect_err("a fault").kind, FaultKind::Probe);
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
        fn one_more_failing_region_never_mends_and_one_less_never_breaks(
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
            // Losing sight of a region makes no target down that was not.
            if blind == '-' { prop_assert_eq!(failing, '-'); }
            if failing != '-' && fine != '-' { prop_assert_ne!(blind, '-'); }
        }

        #[test]
        fn nothing_is_down_that_nobody_saw_failing(quorum in quorums(), signs in "[+?]{1,8}") {
            prop_assert_ne!(sign(quorum, &signs), '-');
        }
    }
}
