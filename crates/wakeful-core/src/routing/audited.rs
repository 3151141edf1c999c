//! The rules of a team in the audit log.

use super::Rule;
use crate::audit::{Audited, View};

impl Audited for [Rule] {
    fn view(&self) -> View {
        let texts: Vec<String> = self
            .iter()
            .map(|rule| serde_json::to_string(rule).expect("a rule is plain data"))
            .collect();
        View::default().with("rules", texts)
    }
}
