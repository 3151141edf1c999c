//! The types of checks to compare, and their limits.

use clap::ValueEnum;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    Http,
    Tcp,
    Dns,
    Ping,
    Https,
}

impl Kind {
    /// A number of monitors at one second that two cores cannot keep up with.
    pub fn too_many(self) -> u32 {
        match self {
            Self::Https => 4_000,
            _ => 30_000,
        }
    }

    /// How much more than the bare loop a check may cost.
    pub fn bar(self) -> f64 {
        match self {
            Self::Https => 1.3,
            _ => 2.0,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Http => "http",
            Self::Tcp => "tcp",
            Self::Dns => "dns",
            Self::Ping => "ping",
            Self::Https => "https",
        })
    }
}
