//! Push monitors (type api).

use wakeful_core::monitors::spec::{ApiSpec, Spec};
use wakeful_core::monitors::timing;

use super::SpecFields;
use crate::dto::Fields;

pub(super) fn read(fields: &mut Fields, old: Option<&Spec>) -> Option<Spec> {
    let previous = match old {
        Some(Spec::Api(api)) => api.grace,
        _ => None,
    };
    let grace = fields.optional_number("grace", timing::grace).or(previous);
    Some(Spec::Api(ApiSpec { grace }))
}

pub(super) fn show(api: &ApiSpec) -> SpecFields<'_> {
    SpecFields { grace: api.grace.map(|span| span.as_secs()), ..SpecFields::default() }
}

#[cfg(test)]
pub(super) fn examples() -> Vec<serde_json::Value> {
    vec![serde_json::json!({"type": "api", "grace": 7})]
}
