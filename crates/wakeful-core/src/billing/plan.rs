//! The plans of a team: their prices and limits. There is a built-in catalog,
//! which an operator may replace.

use serde::{Deserialize, Serialize};
use std::fmt;

use super::money::Money;
use crate::Invalid;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanId(String);

impl PlanId {
    /// An id that can be part of a URL and of a sentence.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if (1..=32).contains(&text.len()) && text.chars().all(plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Invalid::new("must have 1 to 32 of the characters a-z, 0-9, - and _"))
        }
    }

    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PlanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub id: PlanId,
    pub name: String,
    pub price: Price,
    pub limits: Limits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Price {
    /// The plan of teams without a subscription.
    Free,
    Monthly(Money),
    /// By contract: set by the operator and never charged here.
    Contract,
}

/// The limits of a plan; `None` means unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub monitors: Option<u32>,
    /// Seconds.
    pub shortest_interval: u32,
    pub users: Option<u32>,
    pub history_days: u32,
    pub status_pages: Option<u32>,
    /// Of all status pages of the team.
    pub subscribers: Option<u32>,
}

/// All plans, from the smallest to the largest; the first is None.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog(Vec<Plan>);

impl Catalog {
    /// The plans of an operator, from the smallest to the largest.
    pub fn new(plans: Vec<Plan>) -> Result<Self, Invalid> {
        let Some((first, others)) = plans.split_first() else {
            return Err(Invalid::new("must include the plan none"));
        };
        if first.id.as_str() != "none" || first.price != Price::Free {
            let words = "must begin with the plan none at the price 0, where every team starts";
            return Err(Invalid::new(words));
        }
        if let Some(plan) = others.iter().find(|plan| plan.price == Price::Free) {
            return Err(Invalid::new(format!(
                "must set a price for {}: only none is free",
                plan.id
            )));
        }
        for (place, plan) in plans.iter().enumerate() {
            // Users may write either the id or the name, so neither may refer
            // to another plan.
            let names = [plan.id.as_str(), plan.name.as_str()];
            let taken = plans[..place].iter().any(|other| {
                names.iter().any(|name| {
                    name.eq_ignore_ascii_case(other.id.as_str())
                        || name.eq_ignore_ascii_case(&other.name)
                })
            });
            if taken {
                return Err(Invalid::new(format!("must not have two plans named {}", plan.name)));
            }
        }
        Ok(Self(plans))
    }

    pub fn built_in() -> Self {
        let plan = |id: &str,
                    name: &str,
                    price,
                    monitors,
                    shortest_interval,
                    users,
                    history_days,
                    (status_pages, subscribers)| {
            let limits = Limits {
                monitors,
                shortest_interval,
                users,
                history_days,
                status_pages,
                subscribers,
            };
            Plan { id: PlanId::new(id), name: name.to_owned(), price, limits }
        };
        let monthly = |dollars: i64| Price::Monthly(Money::cents(dollars * 100));
        Self(vec![
            plan("none", "None", Price::Free, Some(50), 60, Some(3), 30, (Some(1), Some(100))),
            plan(
                "starter",
                "Starter",
                monthly(9),
                Some(200),
                30,
                Some(5),
                180,
                (Some(3), Some(1_000)),
            ),
            plan(
                "pro",
                "Pro",
                monthly(29),
                Some(1_000),
                10,
                Some(20),
                365,
                (Some(10), Some(5_000)),
            ),
            plan(
                "business",
                "Business",
                monthly(99),
                Some(10_000),
                1,
                Some(200),
                730,
                (Some(50), Some(50_000)),
            ),
            plan("enterprise", "Enterprise", Price::Contract, None, 1, None, 1_825, (None, None)),
        ])
    }

    /// Limits that every plan allows: the number of monitors, and the interval
    /// in seconds.
    pub fn smallest_limits(&self) -> (u32, u32) {
        let monitors = self.0.iter().filter_map(|plan| plan.limits.monitors).min();
        let interval = self.0.iter().map(|plan| plan.limits.shortest_interval).max();
        (monitors.unwrap_or(u32::MAX), interval.unwrap_or(1))
    }

    /// The plan of a team without a subscription.
    pub fn none(&self) -> &Plan {
        &self.0[0]
    }

    pub fn plans(&self) -> &[Plan] {
        &self.0
    }

    /// The plan with this id or name, in any letter case.
    pub fn find(&self, text: &str) -> Option<&Plan> {
        let text = text.trim();
        let same = |name: &str| name.eq_ignore_ascii_case(text);
        self.0.iter().find(|plan| same(plan.id.as_str()) || same(&plan.name))
    }

    pub fn get(&self, id: &PlanId) -> Option<&Plan> {
        self.0.iter().find(|plan| plan.id == *id)
    }

    /// The first plan after this one with sufficient limits.
    pub fn next(&self, after: &PlanId, enough: impl Fn(&Limits) -> bool) -> Option<&Plan> {
        let plans = self.0.iter().skip_while(|plan| plan.id != *after).skip(1);
        plans.into_iter().find(|plan| enough(&plan.limits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_found_by_id_or_name_in_any_case() {
        let catalog = Catalog::built_in();
        for text in ["pro", "PRO", " Pro "] {
            assert_eq!(catalog.find(text).expect(text).name, "Pro");
        }
        assert_eq!(catalog.find("none"), Some(catalog.none()));
        assert_eq!(catalog.find("platinum"), None);
    }

    #[test]
    fn a_catalog_begins_with_none_and_plan_names_are_unique() {
        let built_in = Catalog::built_in().0;
        assert_eq!(Catalog::new(built_in.clone()), Ok(Catalog::built_in()));
        assert_eq!(Catalog::built_in().smallest_limits(), (50, 60));
        let wrong = |change: fn(&mut Vec<Plan>)| {
            let mut plans = built_in.clone();
            change(&mut plans);
            Catalog::new(plans).map(drop).map_err(|why| why.to_string())
        };
        for (change, words) in [
            ((|plans| plans.clear()) as fn(&mut Vec<Plan>), "include the plan none"),
            (|plans| drop(plans.remove(0)), "begin with the plan none"),
            (|plans| plans[0].price = Price::Contract, "begin with the plan none"),
            (|plans| plans[2].price = Price::Free, "a price for pro"),
            (|plans| plans[3].id = PlanId::new("pro"), "two plans named Business"),
            (|plans| plans[3].name = "PRO".to_owned(), "two plans named PRO"),
        ] {
            let why = wrong(change).expect_err(words);
            assert!(why.contains(words), "{why}");
        }
        assert!(PlanId::parse("team-2").is_ok());
        for id in ["", "Team", "two words", &"x".repeat(33)] {
            assert!(PlanId::parse(id).is_err(), "{id}");
        }
    }

    #[test]
    fn the_next_plan_is_the_smallest_with_sufficient_limits() {
        let catalog = Catalog::built_in();
        let next = |after: &str, monitors: u32| {
            let enough = |limits: &Limits| limits.monitors.is_none_or(|max| max >= monitors);
            catalog.next(&PlanId::new(after), enough).map(|plan| plan.name.as_str())
        };
        assert_eq!(next("none", 51), Some("Starter"));
        assert_eq!(next("none", 201), Some("Pro"));
        assert_eq!(next("pro", 1_000_000), Some("Enterprise"));
        assert_eq!(next("enterprise", 1), None);
    }
}
