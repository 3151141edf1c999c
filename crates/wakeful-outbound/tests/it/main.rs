//! Checks against real peers on loopback, hostile ones included. Each test asks
//! by the front door, `check::look`, and holds it to its deadline.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod dns;
mod egress;
mod hostile;
mod http;
mod notify;
mod ntlm;
mod payment;
mod peer;
mod ping;
mod smtp;
mod tcp;
mod tls;
