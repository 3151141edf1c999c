//! Regular expressions. Whatever the pattern and the text are, a search takes about as long as
//! reading the text, or it is given up.

use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Input, MatchErrorKind};
use std::sync::Arc;

use super::work::Work;
use crate::Invalid;

const MAX_LENGTH: usize = 512;
/// The memory of a compiled pattern.
const MAX_BYTES: usize = 256 * 1024;
/// The memory of a search: the sets of states that it has met.
const MAX_CACHE_BYTES: usize = 64 * 1024;
/// How often a search may fill that memory: meeting new sets takes most of the time.
const MAX_CACHE_CLEARS: usize = 2;
/// What is counted for a search that has filled its memory too often.
const VISITS_GIVEN_UP: usize = 50_000;

/// A regular expression. Classes such as `\w` are ASCII, unless the pattern says `(?u)`: with all
/// of Unicode they take over a hundred kilobytes each.
#[derive(Clone, Debug)]
pub struct Pattern {
    dfa: DFA,
}

impl Pattern {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.chars().count() > MAX_LENGTH {
            return Err(Invalid::new("must have 1 to 512 characters"));
        }
        let nfa = NFA::compiler()
            .syntax(syntax::Config::new().unicode(false).utf8(false))
            .configure(
                thompson::Config::new()
                    .utf8(false)
                    .nfa_size_limit(Some(MAX_BYTES))
                    .which_captures(WhichCaptures::None),
            )
            .build(text)
            .map_err(|error| match error.size_limit() {
                Some(_) => Invalid::new("is a pattern that is too large"),
                None => Invalid::new("is not a valid regular expression"),
            })?;
        let search = DFA::config()
            .unicode_word_boundary(true)
            .cache_capacity(MAX_CACHE_BYTES)
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(MAX_CACHE_CLEARS));
        let dfa = DFA::builder()
            .configure(search)
            .build_from_nfa(nfa)
            .map_err(|_| Invalid::new("is a pattern that is too large"))?;
        Ok(Self { dfa })
    }

    /// About how much work each byte of a text is in the worst case.
    pub fn states(&self) -> usize {
        self.dfa.get_nfa().states().len()
    }

    #[cfg(test)]
    fn is_match(&self, text: &str) -> Option<bool> {
        Search::new(Arc::new(self.clone()), &Work::default()).is_match(text)
    }
}

/// A search for one pattern in several texts.
pub(super) struct Search<'a> {
    pattern: Arc<Pattern>,
    work: &'a Work,
    cache: dfa::Cache,
    has_given_up: bool,
}

impl<'a> Search<'a> {
    pub(super) fn new(pattern: Arc<Pattern>, work: &'a Work) -> Self {
        let cache = pattern.dfa.create_cache();
        Self { pattern, work, cache, has_given_up: false }
    }

    /// `None` if that would take too long.
    pub(super) fn is_match(&mut self, text: &str) -> Option<bool> {
        let dfa = &self.pattern.dfa;
        let input = Input::new(text.as_bytes()).earliest(true);
        if !self.has_given_up {
            match dfa.try_search_fwd(&mut self.cache, &input) {
                Ok(found) => return Some(found.is_some()),
                // A character that is not ASCII, which `(?u)\b` is not judged on here: what was done
                // until then is no more than one look at each byte.
                Err(error) if matches!(error.kind(), MatchErrorKind::Quit { .. }) => {}
                Err(_) => self.work.visit_states(VISITS_GIVEN_UP)?,
            }
            self.has_given_up = self.cache.clear_count() >= MAX_CACHE_CLEARS;
        }
        self.work.visit_states(self.pattern.states().saturating_mul(text.len() + 1))?;
        let vm = PikeVM::new_from_nfa(dfa.get_nfa().clone()).ok()?;
        Some(vm.is_match(&mut vm.create_cache(), input))
    }
}

#[cfg(test)]
mod tests {
    use super::super::work::MAX_VISITS;
    use super::*;

    #[test]
    fn patterns_are_searched_for_in_the_whole_text() {
        let long = format!("{} ends with ann@example.com.", "ab01 ".repeat(200_000));
        for (pattern, text, expected) in [
            (r"^ab01", long.as_str(), true),
            (r"\w+@\w+\.com\.$", &long, true),
            (r"\w+@\w+\.org", &long, false),
            (r"(?i)ENDS\b", &long, true),
            (r"[01]*1[01]{60}x", &long, false),
            // Compiled, it has more than 100 KiB.
            (r"(?u)^\w$|ends with", &long, true),
            (r"(?u)\bgrößer\b", "er ist größer als", true),
            (r"(?u)\bgröß\b", "er ist größer als", false),
            ("^$", "", true),
        ] {
            let found = Pattern::parse(pattern).expect(pattern).is_match(text);
            assert_eq!(found, Some(expected), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_takes_too_long_is_given_up() {
        // Each of them compares each byte with hundreds of states.
        for pattern in ["a{0,500}b", "(a{1,50}){1,10}b", r"(?:\w{1,60} ?){1,9}!"] {
            let pattern = Pattern::parse(pattern).expect("a pattern");
            assert_eq!(pattern.is_match(&"a".repeat(1_000_000)), None);
            assert_eq!(pattern.is_match(&"a".repeat(600)), Some(false));
        }
    }

    #[test]
    fn the_patterns_of_a_check_share_the_work() {
        let work = Work::default();
        let pattern = Arc::new(Pattern::parse("a{0,500}b").expect("a pattern"));
        let text = "a".repeat(600);
        let mut judged = 0;
        while Search::new(Arc::clone(&pattern), &work).is_match(&text).is_some() {
            judged += 1;
        }
        assert!((1..=MAX_VISITS / VISITS_GIVEN_UP).contains(&judged), "{judged}");
        // One that reads each byte once needs none of it.
        let simple = Arc::new(Pattern::parse("a+b").expect("a pattern"));
        assert_eq!(Search::new(simple, &work).is_match(&text), Some(false));
    }

    #[test]
    fn many_short_texts_are_as_much_work_as_a_long_one() {
        let work = Work::default();
        let pattern = Arc::new(Pattern::parse("a{0,500}b").expect("a pattern"));
        let mut search = Search::new(pattern, &work);
        let text = "a".repeat(600);
        assert!((0..10).any(|_| search.is_match(&text).is_none()));
    }

    #[test]
    fn word_boundaries_of_unicode_in_short_texts_are_little_work() {
        let work = Work::default();
        let pattern = Arc::new(Pattern::parse(r"(?u)\bgröße\b").expect("a pattern"));
        let mut search = Search::new(pattern, &work);
        for _ in 0..200 {
            assert_eq!(search.is_match("die größe"), Some(true));
            assert_eq!(search.is_match("vergrößert"), Some(false));
        }
    }
}
