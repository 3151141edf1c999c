//! The operator's own plans, from `[[billing.plans]]`. Errors name the plan and the field.

use toml::{Table, Value};
use wakeful_core::billing::{Catalog, Limits, Money, Plan, PlanId, Price};

use super::layers::Entry;
use super::problem::Problem;
use super::reader::Reader;

const FIELDS: [&str; 9] = [
    "id",
    "name",
    "price",
    "monitors",
    "shortest_interval",
    "users",
    "history_days",
    "status_pages",
    "subscribers",
];
const MAX_INTERVAL: u32 = 2_592_000;
const MAX_HISTORY_DAYS: u32 = 3_650;
/// Higher than any real price, in cents, but low enough that sums over years do not
/// overflow.
const MAX_PRICE_CENTS: i64 = 100_000_000;

impl Reader<'_> {
    /// The configured plans, or the built-in ones.
    pub(super) fn plans(&mut self, key: &'static str) -> Catalog {
        let entry = self.layers.get(key);
        catalog(entry).unwrap_or_else(|what| {
            self.problems.push(Problem::Plan { key, origin: entry.origin.clone(), what });
            Catalog::built_in()
        })
    }
}

fn catalog(entry: &Entry) -> Result<Catalog, String> {
    let tables =
        tables(entry).ok_or(" must be a list of plans, each in a table [[billing.plans]]")?;
    if tables.is_empty() {
        return Ok(Catalog::built_in());
    }
    let plans = tables.iter().zip(1..).map(|(table, number)| {
        plan(table).map_err(|what| {
            let id = table.get("id").and_then(Value::as_str).unwrap_or("without an id");
            format!(": plan {number} ({id}): {what}")
        })
    });
    let plans = plans.collect::<Result<Vec<_>, _>>()?;
    Catalog::new(plans).map_err(|why| format!(": the list {why}"))
}

/// A variable contains the list as an inline TOML array.
fn tables(entry: &Entry) -> Option<Vec<Table>> {
    let list = match &entry.value {
        Value::String(text) if entry.is_plain_text() => {
            format!("plans = {text}").parse::<Table>().ok()?.remove("plans")?
        }
        value => value.clone(),
    };
    let Value::Array(list) = list else { return None };
    list.into_iter()
        .map(|one| match one {
            Value::Table(table) => Some(table),
            _ => None,
        })
        .collect()
}

fn plan(table: &Table) -> Result<Plan, String> {
    if let Some(unknown) = table.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!(
            "{unknown} is not a field of a plan; the fields are {}",
            FIELDS.join(", ")
        ));
    }
    let id = table.get("id").and_then(Value::as_str).ok_or("id must be a text")?;
    let name = table.get("name").and_then(Value::as_str).unwrap_or(id).trim();
    if name.is_empty() || name.chars().count() > 64 {
        return Err("name must have 1 to 64 characters".to_owned());
    }
    Ok(Plan {
        id: PlanId::parse(id).map_err(|why| format!("id {why}"))?,
        name: name.to_owned(),
        price: price(table.get("price"))?,
        limits: Limits {
            monitors: optional(table, "monitors", 1_000_000_000)?,
            shortest_interval: number(table, "shortest_interval", MAX_INTERVAL)?,
            users: optional(table, "users", 1_000_000_000)?,
            history_days: number(table, "history_days", MAX_HISTORY_DAYS)?,
            status_pages: optional(table, "status_pages", 1_000_000_000)?,
            subscribers: optional(table, "subscribers", 1_000_000_000)?,
        },
    })
}

/// Dollars per month: a whole number, or a text with two decimals, because floating-point
/// numbers cannot represent cents exactly.
fn price(value: Option<&Value>) -> Result<Price, String> {
    let cents = match value {
        Some(Value::Integer(dollars)) => dollars.checked_mul(100),
        Some(Value::String(text)) if text == "contract" => return Ok(Price::Contract),
        Some(Value::String(text)) => cents(text),
        _ => None,
    };
    match cents.filter(|cents| (0..=MAX_PRICE_CENTS).contains(cents)) {
        Some(0) => Ok(Price::Free),
        Some(cents) => Ok(Price::Monthly(Money::cents(cents))),
        None => {
            Err("price must be dollars per month such as 9 or \"9.50\", or \"contract\"".to_owned())
        }
    }
}

fn cents(text: &str) -> Option<i64> {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (dollars, cents) = text.split_once('.').unwrap_or((text, "00"));
    let whole = digits(dollars) && digits(cents) && cents.len() == 2;
    let cents: i64 = cents.parse().ok().filter(|_| whole)?;
    dollars.parse::<i64>().ok()?.checked_mul(100)?.checked_add(cents)
}

/// Omitted means no limit.
fn optional(table: &Table, field: &str, max: u32) -> Result<Option<u32>, String> {
    if table.contains_key(field) { number(table, field, max).map(Some) } else { Ok(None) }
}

fn number(table: &Table, field: &str, max: u32) -> Result<u32, String> {
    let number = table.get(field).and_then(Value::as_integer);
    let number = number.and_then(|number| u32::try_from(number).ok());
    number
        .filter(|number| (1..=max).contains(number))
        .ok_or_else(|| format!("{field} must be a whole number from 1 to {max}"))
}
