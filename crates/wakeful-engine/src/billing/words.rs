//! The words of bills: receipts, reminders, notes on invoices.

use wakeful_core::billing::{Charge, LEAVE, Money, Plan, Reason, Why};
use wakeful_core::time::Millis;
use wakeful_outbound::payment::Decline;

use crate::Settings;
use crate::letters::Words;

/// The day of a time, UTC.
fn day(at: Millis) -> String {
    at.to_string().chars().take(10).collect()
}

/// What the processor writes beside a charge.
pub(super) fn description(plan: &str, charge: &Charge) -> String {
    format!("Wakeful {plan}, {} to {}", day(charge.period.from), day(charge.period.until))
}

/// How the amount of an invoice came about.
pub(super) fn note(charge: &Charge) -> String {
    let mut note = match charge.reason {
        Reason::First => "First period.".to_owned(),
        Reason::Renewal => "Renewal.".to_owned(),
        Reason::Change => format!(
            "Change of plan: the unused part of the period before counts for {}, rounded down to the cent by the time left.",
            charge.unused
        ),
    };
    if charge.credit_used > Money::ZERO {
        note.push_str(&format!(" Credit used: {}.", charge.credit_used));
    }
    if charge.credit_left > Money::ZERO {
        note.push_str(&format!(" Credit left: {}.", charge.credit_left));
    }
    note
}

pub(super) fn receipt(settings: &Settings, plan: &str, charge: &Charge, last4: &str) -> Words {
    let paid = match charge.amount {
        Money::ZERO => "Nothing was charged.".to_owned(),
        amount => format!("{amount} was charged to the card ending in {last4}."),
    };
    Words {
        subject: format!("Receipt for Wakeful {plan}"),
        text: format!(
            "Thank you. {paid}\n\n\
             Plan:    {plan}\n\
             Period:  {} to {}\n\
             Price:   {}\n\
             Note:    {}\n\n\
             All invoices: {}\n",
            day(charge.period.from),
            day(charge.period.until),
            charge.price,
            note(charge),
            settings.public_url,
        ),
    }
}

pub(super) fn failed(
    settings: &Settings,
    plan: &str,
    charge: &Charge,
    last4: &str,
    decline: Decline,
    next_try: Millis,
) -> Words {
    Words {
        subject: format!("Payment for Wakeful {plan} failed"),
        text: format!(
            "{} for the plan {plan} could not be charged to the card ending in {last4}.\n\n\
             {}\n\n\
             It is tried again on {}. The plan serves until then; to pay at once or with\n\
             another card, choose the plan again:\n\n    {}\n",
            charge.amount,
            decline.sentence(),
            day(next_try),
            settings.public_url,
        ),
    }
}

pub(super) fn ended(settings: &Settings, plan: &str, why: Why, now: Millis) -> Words {
    let because = match why {
        Why::Stopped => "it was cancelled and what was paid has been used",
        Why::Unpaid => "its payment was declined, and declined again on each later try",
        Why::MethodDeleted => "the payment method that it was paid with was deleted",
        Why::NotSold => "it is no longer sold",
        Why::Administrator => "an administrator ended it",
    };
    Words {
        subject: format!("Your Wakeful plan {plan} has ended"),
        text: format!(
            "The plan {plan} has ended because {because}.\n\n\
             The team is on the plan {} now. {} To take up a plan again:\n\n    {}\n",
            settings.billing.catalogue.none().name,
            what_stays(settings, now),
            settings.public_url,
        ),
    }
}

/// What becomes of what the plan None does not allow.
fn what_stays(settings: &Settings, now: Millis) -> String {
    if !settings.billing.limits {
        return "Nothing is deleted.".to_owned();
    }
    let (until, none) = (day(now.after(LEAVE)), settings.billing.catalogue.none());
    format!(
        "Everything stays as it is until {until}.\n\
         After that, monitors over the limits of {} are set inactive, the newest first, and\n\
         history older than {} days is deleted.",
        none.name, none.limits.history_days,
    )
}

/// That a smaller plan takes a part of the history, and when.
pub(super) fn history_goes(settings: &Settings, plan: &Plan, at: Millis) -> Words {
    let (name, days) = (&plan.name, plan.limits.history_days);
    Words {
        subject: format!("History older than {days} days will be deleted"),
        text: format!(
            "The plan {name} keeps {days} days of history, and your team has more.\n\n\
             All of it is kept until {}. After that, what is older than {days} days is\n\
             deleted, and cannot be brought back. To keep it, choose a larger plan:\n\n    {}\n",
            day(at),
            settings.public_url,
        ),
    }
}

pub(super) fn over_limits(settings: &Settings, plan: &str, over: &str, until: Millis) -> Words {
    Words {
        subject: "Your team uses more than its Wakeful plan allows".into(),
        text: format!(
            "The plan {plan} allows less than your team uses: {over}.\n\n\
             Everything keeps running until {}. After that, the newest monitors over the\n\
             limit are set inactive; no monitor is deleted. To keep them running, choose a larger plan:\n\n    {}\n",
            day(until),
            settings.public_url,
        ),
    }
}

pub(super) fn rested(settings: &Settings, plan: &str, count: usize) -> Words {
    Words {
        subject: format!("{count} monitors were set inactive"),
        text: format!(
            "Your team used more than the plan {plan} allows for 14 days, so {count} monitors were\n\
             set inactive. They are not deleted. To run them again, choose a\n\
             larger plan and set them active:\n\n    {}\n",
            settings.public_url,
        ),
    }
}
