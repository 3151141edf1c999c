//! Checks against real servers on loopback, including hostile ones. Each test
//! uses the public entry point, `checks::check`, and enforces its deadline.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod assertions;
mod channels;
mod dns;
mod egress;
mod evidence;
mod hostile;
mod hostile_bodies;
mod hostile_peers;
mod http;
mod notify;
mod ntlm;
mod payment;
mod phones_and_repeats;
mod ping;
mod real_name_servers;
mod real_servers;
mod requests;
mod servers;
mod smtp;
mod tcp;
mod tls;
mod webpush;

/// That of the service, whose memory some tests limit.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
