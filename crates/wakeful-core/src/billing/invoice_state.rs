//! The state of an invoice.

use crate::named_enum;

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum InvoiceState {
        Open = "open",
        Paid = "paid",
        /// Unpaid and no longer due.
        Void = "void",
    }
}

impl InvoiceState {
    /// Parses a stored state.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.as_str() == text)
    }
}
