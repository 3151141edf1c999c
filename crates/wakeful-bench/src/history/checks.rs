//! Generated checks of a monitor.

use std::time::Duration;
use wakeful_core::heartbeat::{Beat, Heartbeat, Phases};
use wakeful_core::time::Millis;

pub(super) const INTERVAL: u64 = 60;

/// Realistic checks: every minute, a little late, log-normal phases in tenths
/// of a millisecond, and an outage of some minutes every other day.
pub(super) struct Checks {
    dice: u64,
    number: i64,
}

impl Checks {
    pub(super) fn new(seed: u64) -> Self {
        Self { dice: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, number: 0 }
    }

    /// A number between zero and one.
    fn roll(&mut self) -> f64 {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        ((self.dice >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Log-normal, from its median in milliseconds.
    fn span(&mut self, median: f64, sigma: f64) -> Duration {
        let normal = (-2.0 * self.roll().ln()).sqrt() * (std::f64::consts::TAU * self.roll()).cos();
        Duration::from_micros(((median * (sigma * normal).exp() * 10.0) as u64) * 100)
    }
}

impl Iterator for Checks {
    type Item = Heartbeat;

    fn next(&mut self) -> Option<Heartbeat> {
        let number = self.number;
        self.number += 1;
        let down = number % 2_880 < 4;
        let (resolve, connect) = (self.span(3.0, 0.3), self.span(14.0, 0.2));
        let (tls, first_byte) = (self.span(22.0, 0.2), self.span(80.0, 0.35));
        let transfer = self.span(6.0, 0.4);
        let load = resolve + connect + tls + first_byte + transfer + self.span(0.3, 0.2);
        let late = self.span(1.5, 0.8);
        let at = Millis(number * (INTERVAL as i64) * 1_000).after(load + late);
        let phases = if down {
            Phases { resolve: Some(resolve), ..Phases::default() }
        } else {
            Phases {
                resolve: Some(resolve),
                connect: Some(connect),
                tls: Some(tls),
                first_byte: Some(first_byte),
                transfer: Some(transfer),
            }
        };
        Some(Heartbeat {
            at,
            status: if down { Beat::Down } else { Beat::Up },
            message: if down { "connection refused" } else { "200 OK" }.to_owned(),
            load_time: (!down).then_some(load),
            phases,
            regions: Vec::new(),
            readings: Default::default(),
        })
    }
}
