//! Api: a push monitor, which is not checked. A job reports to it, and is late after
//! interval and grace, or after a scheduled time and grace.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::push::{JobSchedule, Keywords, Slug};
use crate::serde_millis;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiSpec {
    #[serde(with = "serde_millis::micros", default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<Duration>,
    /// `None`: the plain interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Box<JobSchedule>>,
    /// How long a run may take; `None`: as long as the grace.
    #[serde(with = "serde_millis::micros", default, skip_serializing_if = "Option::is_none")]
    pub max_runtime: Option<Duration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<Slug>,
    /// Whether pings with other methods than POST are ignored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub post_only: bool,
    #[serde(default, skip_serializing_if = "Keywords::is_empty")]
    pub keywords: Keywords,
}

impl ApiSpec {
    /// With these settings only.
    pub fn with_grace(grace: Option<Duration>) -> Self {
        Self { grace, ..Self::default() }
    }
}
