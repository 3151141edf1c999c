//! Memberships, payment methods, payment attempts, invoices and usage.

pub(crate) mod invoices;
pub(crate) mod memberships;
pub(crate) mod payment_attempts;
pub(crate) mod payment_methods;
pub(crate) mod usage;
