//! Tables of billing steps, and properties that hold for any sequence of
//! events.

use proptest::prelude::*;
use std::time::Duration;

use super::*;
use crate::time::Millis;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn at(text: &str) -> Millis {
    Millis::parse(&format!("{text}T10:00:00Z")).expect("a time")
}

/// A team and a processor that accepts or declines as the test chooses.
struct Team {
    catalog: Catalog,
    state: State,
    has_payment_method: bool,
    paid: Vec<Charge>,
    /// When the open payment was first declined.
    declined: Option<Millis>,
    log: Vec<String>,
}

impl Team {
    fn new() -> Self {
        let catalog = Catalog::built_in();
        let state = State::default();
        Self { catalog, state, has_payment_method: true, paid: vec![], declined: None, log: vec![] }
    }

    fn on(plan: &str, day: &str) -> Self {
        let mut team = Self::new();
        team.choose(plan, at(day), true);
        team
    }

    fn choose(&mut self, plan: &str, now: Millis, pays: bool) {
        let plan = self.catalog.find(plan).expect("a plan").clone();
        let before = self.state.clone();
        let Ok(step) = step(&self.state, Event::Choose(&plan), now) else { return };
        match step.action {
            Some(Action::Charge(charge)) if pays => self.settle(&charge, true, now),
            // A declined choice changes nothing.
            Some(Action::Charge(_)) => assert_eq!(step.state, before),
            _ => self.state = step.state,
        }
    }

    fn tick(&mut self, now: Millis, pays: bool) {
        let subscription = self.state.subscription.as_ref();
        let price = subscription.and_then(|subscription| {
            match self.catalog.get(&subscription.plan)?.price {
                Price::Monthly(price) => Some(price),
                _ => None,
            }
        });
        let event = Event::Due { has_payment_method: self.has_payment_method, price };
        let next = step(&self.state, event, now).expect("a due event is never refused");
        match next.action {
            Some(Action::Charge(charge)) => self.settle(&charge, pays, now),
            action => self.take(next.state, action, now),
        }
    }

    fn settle(&mut self, charge: &Charge, pays: bool, now: Millis) {
        let event = if pays || charge.amount == Money::ZERO {
            Event::Paid(charge)
        } else {
            Event::Declined(charge)
        };
        let next = step(&self.state, event, now).expect("an outcome is never refused");
        self.take(next.state, next.action, now);
    }

    fn take(&mut self, state: State, action: Option<Action>, now: Millis) {
        self.state = state;
        match action {
            None => {}
            Some(Action::Receipt(charge)) => {
                self.log.push(format!("paid {}", charge.amount.as_cents()));
                self.paid.push(charge);
                self.declined = None;
            }
            Some(Action::Remind { next_try, .. }) => {
                self.declined = self.declined.or(Some(now));
                let days = next_try.since(now).as_secs() / DAY.as_secs();
                self.log.push(format!("again in {days}"));
            }
            Some(Action::Ended { why, .. }) => {
                if why == EndReason::Unpaid {
                    let first = self.declined.expect("a plan does not end at its first decline");
                    assert!(now.since(first) >= DAY * 5, "retries are left");
                }
                self.declined = None;
                self.log.push(format!("ended {why:?}"));
            }
            Some(Action::Charge(_) | Action::Refund) => panic!("not the action of an outcome"),
        }
    }

    fn cancel(&mut self, now: Millis) -> Result<(), Refusal> {
        let next = step(&self.state, Event::Cancel, now)?;
        self.take(next.state, next.action, now);
        Ok(())
    }

    fn shown(&self, now: Millis) -> String {
        let plan = self.state.serving(now).map_or("none", PlanId::as_str);
        format!("{} {plan}", self.state.membership_state().as_str())
    }
}

#[test]
fn a_period_is_charged_once_when_it_begins() {
    let mut team = Team::on("pro", "2027-01-31");
    for day in ["2027-02-27", "2027-02-28", "2027-02-28", "2027-03-30", "2027-03-31"] {
        team.tick(at(day), true);
    }
    assert_eq!(team.log, ["paid 2900", "paid 2900", "paid 2900"]);
    let ends: Vec<Millis> = team.paid.iter().map(|charge| charge.period.until).collect();
    assert_eq!(ends, [at("2027-02-28"), at("2027-03-31"), at("2027-04-30")]);
}

#[test]
fn a_declined_payment_is_retried_after_1_3_and_5_days() {
    let mut team = Team::on("starter", "2027-01-10");
    for day in 10..=16 {
        team.tick(at(&format!("2027-02-{day}")), false);
        if day < 15 {
            assert_eq!(team.shown(at(&format!("2027-02-{day}"))), "past_due starter");
        }
    }
    assert_eq!(team.log, ["paid 900", "again in 1", "again in 2", "again in 2", "ended Unpaid"]);
    assert_eq!(team.shown(at("2027-02-16")), "none none");
}

#[test]
fn a_late_first_attempt_has_as_many_retries() {
    // The billing loop was down for five, six and twenty days.
    for (first, later) in [
        ("2027-02-15", ["2027-02-16", "2027-02-18", "2027-02-20"]),
        ("2027-02-16", ["2027-02-17", "2027-02-19", "2027-02-21"]),
        ("2027-03-02", ["2027-03-03", "2027-03-05", "2027-03-07"]),
    ] {
        let mut team = Team::on("starter", "2027-01-10");
        team.tick(at(first), false);
        assert_eq!(team.shown(at(first)), "past_due starter");
        for day in later {
            let before = at(day).before(Duration::from_secs(60));
            assert_eq!(team.shown(before), "past_due starter");
            team.tick(before, false);
            team.tick(at(day), false);
        }
        let expected = ["paid 900", "again in 1", "again in 2", "again in 2", "ended Unpaid"];
        assert_eq!(team.log, expected, "{first}");
    }
}

#[test]
fn the_grace_period_is_charged_however_late_the_first_attempt_was() {
    for (first, from) in [("2027-02-16", "2027-02-10"), ("2027-03-02", "2027-03-02")] {
        let mut team = Team::on("starter", "2027-01-10");
        team.tick(at(first), false);
        let paid = at(first).after(DAY * 3);
        team.tick(paid, true);
        assert_eq!(team.shown(paid), "active starter");
        assert_eq!(team.paid[1].period.from, at(from));
        assert!(team.paid[1].period.until > paid);
    }
}

#[test]
fn a_row_from_an_older_version_counts_from_the_end_of_the_paid_period() {
    let mut team = Team::on("starter", "2027-01-10");
    team.tick(at("2027-02-10"), false);
    let mut json = serde_json::to_value(&team.state).expect("writes");
    let past_due = json["held"]["standing"]["past_due"].as_object_mut().expect("past due");
    past_due.remove("since").expect("a new field");
    team.state = serde_json::from_value(json).expect("reads");
    assert_eq!(team.shown(at("2027-02-14")), "past_due starter");
    team.tick(at("2027-02-11"), false);
    assert_eq!(team.state.due(), Some(at("2027-02-13")));
}

#[test]
fn a_payment_in_the_grace_period_is_for_the_period_that_was_due() {
    let mut team = Team::on("starter", "2027-01-10");
    team.tick(at("2027-02-10"), false);
    team.tick(at("2027-02-13"), true);
    assert_eq!(team.shown(at("2027-02-13")), "active starter");
    assert_eq!(team.paid[1].period, Period { from: at("2027-02-10"), until: at("2027-03-10") });
}

#[test]
fn choosing_the_current_plan_pays_only_the_open_invoice() {
    let mut team = Team::on("starter", "2027-01-10");
    team.choose("starter", at("2027-01-20"), true);
    assert_eq!(team.paid.len(), 1);
    team.tick(at("2027-02-10"), false);
    team.choose("starter", at("2027-02-11"), false);
    assert_eq!(team.shown(at("2027-02-11")), "past_due starter");
    team.choose("starter", at("2027-02-11"), true);
    assert_eq!(team.shown(at("2027-02-11")), "active starter");
    assert_eq!(team.paid[1].period.from, at("2027-02-10"));
}

#[test]
fn a_canceled_plan_stays_in_effect_until_the_paid_period_ends() {
    let mut team = Team::on("pro", "2027-01-10");
    team.cancel(at("2027-01-11")).expect("cancels");
    assert_eq!(team.shown(at("2027-02-09")), "cancelled pro");
    assert_eq!(team.shown(at("2027-02-10")), "cancelled none");
    team.tick(at("2027-02-10"), true);
    assert_eq!(team.log, ["paid 2900", "ended Canceled"]);
    assert_eq!(team.cancel(at("2027-02-11")), Err(Refusal::NoPlan));
}

#[test]
fn choosing_a_canceled_plan_again_resumes_it_without_a_charge() {
    let mut team = Team::on("pro", "2027-01-10");
    team.cancel(at("2027-01-11")).expect("cancels");
    team.choose("pro", at("2027-01-12"), true);
    assert_eq!(team.shown(at("2027-01-12")), "active pro");
    assert_eq!(team.paid.len(), 1);
}

#[test]
fn a_plan_without_a_payment_method_ends_when_the_payment_is_due() {
    let mut team = Team::on("pro", "2027-01-10");
    team.has_payment_method = false;
    team.tick(at("2027-02-09"), true);
    assert_eq!(team.shown(at("2027-02-09")), "active pro");
    team.tick(at("2027-02-10"), true);
    assert_eq!(team.log, ["paid 2900", "ended MethodDeleted"]);
}

#[test]
fn a_change_of_plan_credits_the_unused_days_of_the_old_one() {
    // 20 of January's 31 days are unused; of 29.00 that is 18.70.
    let mut team = Team::on("pro", "2027-01-01");
    team.choose("business", at("2027-01-12"), true);
    assert_eq!(team.log, ["paid 2900", "paid 8030"]);
    assert_eq!(team.paid[1].unused, Money::cents(1870));
    assert_eq!(team.paid[1].period, Period { from: at("2027-01-12"), until: at("2027-02-12") });
    // Downgraded on the same day: the whole 99.00 becomes credit and pays for
    // months.
    team.choose("starter", at("2027-01-12"), true);
    assert_eq!(team.log[2], "paid 0");
    assert_eq!(team.state.credit, Money::cents(9_900 - 900));
    team.tick(at("2027-02-12"), true);
    assert_eq!(team.log[3], "paid 0");
    assert_eq!(team.state.credit, Money::cents(9_900 - 1_800));
}

#[test]
fn a_change_in_the_grace_period_does_not_make_it_free() {
    let mut team = Team::on("starter", "2027-01-10");
    team.tick(at("2027-02-10"), false);
    team.choose("pro", at("2027-02-13"), true);
    assert_eq!(team.paid[1].period.from, at("2027-02-10"));
    assert_eq!(team.paid[1].amount, Money::cents(2900));
}

#[test]
fn time_while_the_service_was_down_is_not_charged() {
    let mut team = Team::on("starter", "2027-01-10");
    team.tick(at("2027-05-20"), true);
    assert_eq!(team.paid[1].period, Period { from: at("2027-05-20"), until: at("2027-06-20") });
}

#[test]
fn a_plan_of_the_operator_is_never_charged_and_cannot_be_canceled_by_a_member() {
    let mut team = Team::on("pro", "2027-01-01");
    let enterprise = team.catalog.find("enterprise").expect("a plan").clone();
    team.state = step(&team.state, Event::Grant(&enterprise), at("2027-01-12")).expect("set").state;
    assert_eq!(team.state.credit, Money::cents(1870));
    assert_eq!(team.cancel(at("2027-01-13")), Err(Refusal::SetByOperator));
    let pro = team.catalog.find("pro").expect("a plan").clone();
    let chosen = step(&team.state, Event::Choose(&pro), at("2027-01-13"));
    assert_eq!(chosen.err(), Some(Refusal::SetByOperator));
    team.tick(at("2037-01-13"), true);
    assert_eq!(team.shown(at("2037-01-13")), "active enterprise");
    let none = team.catalog.none().clone();
    let end = step(&team.state, Event::Grant(&none), at("2037-01-14")).expect("set");
    assert_eq!(end.state.subscription, None);
}

#[test]
fn a_plan_that_is_not_for_sale_is_refused() {
    let catalog = Catalog::built_in();
    let choose = |plan: &str| {
        let plan = catalog.find(plan).expect("a plan");
        step(&State::default(), Event::Choose(plan), at("2027-01-01")).err()
    };
    assert_eq!(choose("none"), Some(Refusal::NotForSale));
    assert_eq!(choose("enterprise"), Some(Refusal::SetByOperator));
}

#[test]
fn a_payment_for_a_canceled_plan_is_refunded() {
    let mut team = Team::on("pro", "2027-01-10");
    team.tick(at("2027-02-10"), false);
    let due = Event::Due { has_payment_method: true, price: Some(Money::cents(2900)) };
    let charge = match step(&team.state, due, at("2027-02-11")).expect("due").action {
        Some(Action::Charge(charge)) => charge,
        action => panic!("{action:?}"),
    };
    team.cancel(at("2027-02-11")).expect("cancels");
    let late = step(&team.state, Event::Paid(&charge), at("2027-02-11")).expect("an outcome");
    assert_eq!(late.action, Some(Action::Refund));
    assert_eq!(late.state.subscription, None);
}

#[test]
fn an_outcome_that_is_reported_twice_counts_once() {
    let team = Team::on("pro", "2027-01-10");
    let again =
        step(&team.state, Event::Paid(&team.paid[0]), at("2027-01-10")).expect("an outcome");
    assert_eq!(again, Step { state: team.state.clone(), action: None });
}

#[test]
fn a_state_is_read_back_as_it_was_written() {
    let mut team = Team::on("pro", "2027-01-10");
    team.tick(at("2027-02-10"), false);
    let text = serde_json::to_string(&team.state).expect("writes");
    assert_eq!(serde_json::from_str::<State>(&text).expect("reads"), team.state);
}

#[test]
fn a_year_of_ten_thousand_teams_adds_up_to_the_cent() {
    let start = at("2027-01-01");
    let plans = ["starter", "pro", "business"];
    let (mut total, mut expected) = (0, 0);
    for number in 0..10_000_u32 {
        let mut team = Team::new();
        let begun = start.after(Duration::from_secs(u64::from(number) * 251));
        team.choose(plans[number as usize % 3], begun, true);
        let year = months_after(begun, 12);
        while let Some(due) = team.state.due().filter(|due| *due < year) {
            team.tick(due, true);
        }
        assert_eq!(team.paid.len(), 12);
        total += team.paid.iter().map(|charge| charge.amount).sum::<Money>().as_cents();
        expected += 12 * [900, 2900, 9900][number as usize % 3];
    }
    assert_eq!(total, expected);
}

#[derive(Clone, Debug)]
enum Move {
    Choose(&'static str, bool),
    Cancel,
    Tick(bool),
    DropMethod(bool),
    Grant(&'static str),
}

fn moves() -> impl Strategy<Value = Vec<(u64, Move)>> {
    let plan = prop_oneof![Just("starter"), Just("pro"), Just("business")];
    let one = prop_oneof![
        3 => (plan, any::<bool>()).prop_map(|(plan, pays)| Move::Choose(plan, pays)),
        1 => Just(Move::Cancel),
        8 => any::<bool>().prop_map(Move::Tick),
        1 => any::<bool>().prop_map(Move::DropMethod),
        1 => prop_oneof![Just("enterprise"), Just("none")].prop_map(Move::Grant),
    ];
    // Hours between the events: minutes to some weeks.
    proptest::collection::vec((0_u64..500, one), 1..60)
}

proptest! {
    #[test]
    fn no_period_is_charged_twice_or_used_unpaid_past_its_grace(moves in moves()) {
        let mut team = Team::new();
        let mut now = at("2027-01-31");
        for (hours, next) in moves {
            now = now.after(Duration::from_secs(hours * 3600));
            let before = team.paid.len();
            match next {
                Move::Choose(plan, pays) => team.choose(plan, now, pays),
                Move::Cancel => { let _ = team.cancel(now); }
                Move::Tick(pays) => team.tick(now, pays),
                Move::DropMethod(there) => team.has_payment_method = there,
                Move::Grant(plan) => {
                    let plan = team.catalog.find(plan).expect("a plan").clone();
                    let next = step(&team.state, Event::Grant(&plan), now).expect("set");
                    team.take(next.state, next.action, now);
                }
            }
            prop_assert!(team.paid.len() - before <= 1);
            let set_by_operator = team.state.subscription.as_ref()
                .is_some_and(|subscription| subscription.status == SubscriptionStatus::SetByOperator);
            if team.state.serving(now).is_some() && !set_by_operator {
                let until = team.paid.last().expect("no plan is in effect unpaid").period.until;
                prop_assert!(now < team.declined.unwrap_or(until).max(until).after(DAY * 5));
            }
        }
        for pair in team.paid.windows(2) {
            let (old, new) = (&pair[0], &pair[1]);
            // A period begins where the previous one ended, or later; only a
            // change of plan cuts it short, and then the unused part is
            // credited.
            prop_assert!(new.period.from >= old.period.until || new.reason != ChargeReason::Renewal);
            prop_assert!(new.period.from >= old.period.from);
            if new.reason == ChargeReason::Change && new.period.from < old.period.until {
                let cut = old.period.until.since(new.period.from);
                prop_assert_eq!(new.unused, old.price.share(cut, old.period.length()));
            }
            prop_assert!(new.period.until > new.period.from);
        }
        for charge in &team.paid {
            let owed = charge.price.less(charge.credit_used);
            prop_assert!(charge.amount == owed
                || (charge.amount == Money::ZERO && owed < Money::cents(50)));
        }
    }
}

#[test]
fn a_status_is_stored_under_the_name_of_earlier_versions() {
    let next_try = at("2027-01-10");
    for (status, stored) in [
        (SubscriptionStatus::Active, serde_json::json!("active")),
        (SubscriptionStatus::Canceled, serde_json::json!("cancelled")),
        (SubscriptionStatus::SetByOperator, serde_json::json!("administered")),
        (
            SubscriptionStatus::PastDue { next_try, since: None },
            serde_json::json!({"past_due": {"next_try": next_try.0, "since": null}}),
        ),
    ] {
        assert_eq!(serde_json::to_value(status).unwrap(), stored);
        assert_eq!(serde_json::from_value::<SubscriptionStatus>(stored).unwrap(), status);
    }
}
