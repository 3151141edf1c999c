//! The engine through its operations and its loops, over real sockets.

mod bench;
mod billing;
mod deliver;
mod monitors;
mod network;
mod trouble;
mod watch;
