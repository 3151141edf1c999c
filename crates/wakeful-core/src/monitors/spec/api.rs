//! Api: a push monitor, which is not checked. A job reports to it, and is late after
//! interval and grace.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::serde_millis;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiSpec {
    #[serde(with = "serde_millis::micros", default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<Duration>,
}
