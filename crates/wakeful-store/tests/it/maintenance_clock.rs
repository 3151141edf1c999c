//! What the maintenance clock records about many monitors, and after many changes.

use std::time::Duration;
use wakeful_core::audit::Action;
use wakeful_core::id::{MaintenanceId, NotifierId, TeamId, UserId};
use wakeful_core::maintenance::{Announce, Checks, Window};
use wakeful_core::time::Millis;
use wakeful_store::{SaveWindowOutcome, Store};
use wakeful_testkit::{both_databases, system, whole};

use crate::announcements::{MINUTE, window};
use crate::fixture::{NOW, monitor, next, team};

/// A window of all monitors, which is not announced, from 30 to 40 minutes after `NOW`.
fn quiet_window(team: TeamId) -> Window {
    let none = NotifierId::new(NOW, next());
    Window {
        announce: Announce::default(),
        due: Some(NOW.after(30 * MINUTE)),
        ..window(team, none)
    }
}

fn saver() -> UserId {
    UserId::new(NOW, next())
}

/// Changes a window, and applies that.
async fn change(store: &Store, team: TeamId, id: MaintenanceId, now: Millis, to: fn(&mut Window)) {
    let access = whole(team);
    let scope = store.team(&access);
    let before = scope.maintenance(id).await.expect("read").expect("there");
    let mut window = Window { due: Some(now), modified: now, ..before.window.clone() };
    to(&mut window);
    let update = Action::MaintenanceUpdate;
    let saved = scope.change_maintenance(&before, &window, update, &system()).await;
    assert_eq!(saved.expect("saved"), SaveWindowOutcome::Done);
    let step = store.apply_maintenance(team, now).await.expect("applied");
    assert_eq!((step.monitors.len(), step.more), (3, false));
}

both_databases! {
    async fn changing_windows_all_the_time_does_not_add_rows(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let team = team(&store).await;
        let access = whole(team);
        let scope = store.team(&access);
        for name in ["one", "two", "three"] {
            scope.add_monitor(&monitor(team, name), &system()).await.expect("saved");
        }
        let windows = [(); 3].map(|()| quiet_window(team));
        for window in &windows {
            let off = Window { isactive: false, due: None, ..window.clone() };
            scope.add_maintenance(&off, &system(), saver()).await.expect("added");
        }
        let at = |second: usize| NOW.after(31 * MINUTE + Duration::from_secs(second as u64));
        let open = async || database.number("select count(*) from exclusions where to_at is null").await;
        // One after the other is on, for a second each and with a second between them.
        for second in (0..20).step_by(2) {
            let id = windows[second / 2 % 3].id;
            change(&store, team, id, at(second), |window| window.isactive = true).await;
            assert_eq!((database.rows("exclusions").await, open().await), (3, 3), "{second}");
            change(&store, team, id, at(second + 1), |window| window.isactive = false).await;
            assert_eq!((database.rows("exclusions").await, open().await), (3, 0), "{second}");
            let covers = store.covers_changed_since(at(second + 1)).await.expect("read");
            assert_eq!(covers.iter().filter(|one| one.to == Some(at(second + 1))).count(), 3);
        }
        // One that changes what it means has two rows.
        let id = windows[0].id;
        change(&store, team, id, at(20), |window| window.isactive = true).await;
        for second in (21..40).step_by(2) {
            change(&store, team, id, at(second), |window| window.checks = Checks::Pause).await;
            change(&store, team, id, at(second + 1), |window| window.checks = Checks::Run).await;
            assert_eq!((database.rows("exclusions").await, open().await), (6, 3), "{second}");
        }
        // What it records after a longer break is another row.
        change(&store, team, id, at(41), |window| window.isactive = false).await;
        change(&store, team, id, at(101), |window| window.isactive = true).await;
        assert_eq!((database.rows("exclusions").await, open().await), (9, 3));
    }

    async fn many_monitors_are_covered_in_short_transactions(setup: Setup) {
        const COUNT: i64 = 1_100;
        let database = setup.database().await;
        let store = database.open().await;
        let team = team(&store).await;
        let access = whole(team);
        let scope = store.team(&access);
        let add = async |count: i64| {
            for _ in 0..count {
                scope.add_monitor(&monitor(team, "site"), &system()).await.expect("saved");
            }
        };
        add(COUNT).await;
        let window = quiet_window(team);
        scope.add_maintenance(&window, &system(), saver()).await.expect("added");
        let started = NOW.after(31 * MINUTE);
        let first = store.apply_maintenance(team, started).await.expect("applied");
        assert_eq!((first.monitors.len(), first.more, first.windows.len()), (1_000, true, 0));
        assert!(store.running_windows(team).await.expect("read").is_empty());
        // Monitors that are added meanwhile are covered, too.
        let apply = async {
            let mut steps = 0;
            loop {
                let step = store.apply_maintenance(team, started).await.expect("applied");
                assert!(step.monitors.len() <= 1_000);
                steps += 1;
                if !step.more {
                    break steps;
                }
            }
        };
        let (steps, ()) = tokio::join!(apply, add(10));
        assert!(steps >= 1);
        while store.apply_maintenance(team, started).await.expect("applied").more {}
        let open = "select count(distinct monitor_id) from exclusions where to_at is null";
        assert_eq!((database.rows("exclusions").await, database.number(open).await), (COUNT + 10, COUNT + 10));
        assert_eq!(store.running_windows(team).await.expect("read").len(), 1);
        // All of them end.
        let ended = NOW.after(41 * MINUTE);
        while store.apply_maintenance(team, ended).await.expect("applied").more {}
        assert_eq!(database.number(open).await, 0);
        let end = format!("select count(*) from exclusions where to_at = {}", NOW.after(40 * MINUTE).0);
        assert_eq!((database.rows("exclusions").await, database.number(&end).await), (COUNT + 10, COUNT + 10));
    }
}
