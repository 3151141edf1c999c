//! The paced baseline: a task for each monitor that wakes when it is due,
//! connects, sends and reads, and stores nothing. It is the minimum cost of a
//! scheduler built with the same tools. It runs until it is killed.

use clap::Args;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use wakeful_core::monitors::Interval;

use crate::baseline::{connect, get};
use crate::{Outcome, clock, site};

#[derive(Args)]
pub struct PacedBaseline {
    #[arg(long)]
    pub monitors: u32,
    #[arg(long)]
    pub interval: u64,
    #[arg(long)]
    pub port: u16,
}

pub async fn run(baseline: &PacedBaseline) -> Outcome<()> {
    let interval = Interval::new(baseline.interval).map_err(|why| why.to_string())?;
    let began = Instant::now();
    let wall = clock::wall();
    for number in 0..baseline.monitors {
        tokio::spawn(on_time(number, interval, baseline.port, began, wall));
    }
    std::future::pending().await
}

async fn on_time(number: u32, interval: Interval, port: u16, began: Instant, wall: u64) {
    let rhythm = site::rhythm(number, interval);
    let mut due = rhythm.next(0, wall / 1_000_000);
    loop {
        let ahead = Duration::from_nanos((due * 1_000_000).saturating_sub(wall));
        sleep_until(began + ahead).await;
        if let Ok(stream) = connect(number, port).await {
            // A failed request counts as missed at the target.
            let _ = get(stream, number).await;
        }
        due = rhythm.next(due, due);
    }
}
