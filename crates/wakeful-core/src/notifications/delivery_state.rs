//! The state of a delivery.

use crate::named_enum;

named_enum! {
    /// The state of the delivery of one event by one notifier.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum DeliveryState {
        /// To be sent, or sent again.
        Waiting = "waiting",
        Delivered = "delivered",
        /// Not sent again, unless someone asks for it.
        Failed = "failed",
    }
}

impl DeliveryState {
    /// Parses a stored state.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.as_str() == text)
    }
}
