//! The texts of billing: receipts, reminders, and notes on invoices.

use wakeful_core::billing::{Charge, ChargeReason, EndReason, Money, Plan, REDUCTION_GRACE};
use wakeful_core::time::Millis;
use wakeful_outbound::payment::Decline;

use crate::Settings;
use crate::mail::templates::EmailText;

/// The date of a time, in UTC.
fn date(at: Millis) -> String {
    at.to_string().chars().take(10).collect()
}

/// The description of a charge at the processor.
pub(super) fn description(plan: &str, charge: &Charge) -> String {
    format!("Wakeful {plan}, {} to {}", date(charge.period.from), date(charge.period.until))
}

/// Explains the amount of an invoice.
pub(super) fn invoice_note(charge: &Charge) -> String {
    let mut note = match charge.reason {
        ChargeReason::First => "First period.".to_owned(),
        ChargeReason::Renewal => "Renewal.".to_owned(),
        ChargeReason::Change => format!(
            "Change of plan: {} credited for the unused time of the previous plan, rounded down to the cent.",
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

pub(super) fn receipt(settings: &Settings, plan: &str, charge: &Charge, last4: &str) -> EmailText {
    let paid = match charge.amount {
        Money::ZERO => "Nothing was charged.".to_owned(),
        amount => format!("{amount} was charged to the card ending in {last4}."),
    };
    EmailText {
        subject: format!("Receipt for Wakeful {plan}"),
        text: format!(
            "Thank you. {paid}\n\n\
             Plan:    {plan}\n\
             Period:  {} to {}\n\
             Price:   {}\n\
             Note:    {}\n\n\
             All invoices: {}\n",
            date(charge.period.from),
            date(charge.period.until),
            charge.price,
            invoice_note(charge),
            settings.public_url,
        ),
    }
}

pub(super) fn payment_failed(
    settings: &Settings,
    plan: &str,
    charge: &Charge,
    last4: &str,
    decline: Decline,
    next_try: Millis,
) -> EmailText {
    EmailText {
        subject: format!("Payment for Wakeful {plan} failed"),
        text: format!(
            "{} for the plan {plan} could not be charged to the card ending in {last4}.\n\n\
             {}\n\n\
             We will try again on {}. You keep the plan until then. To pay now or with\n\
             another card, choose the plan again:\n\n    {}\n",
            charge.amount,
            decline.sentence(),
            date(next_try),
            settings.public_url,
        ),
    }
}

pub(super) fn plan_ended(
    settings: &Settings,
    plan: &str,
    why: EndReason,
    now: Millis,
) -> EmailText {
    let because = match why {
        EndReason::Canceled => "it was canceled and the paid period is over",
        EndReason::Unpaid => "its payment was declined repeatedly",
        EndReason::MethodDeleted => "its payment method was deleted",
        EndReason::NotSold => "it is no longer available",
        EndReason::Operator => "the operator ended it",
    };
    EmailText {
        subject: format!("Your Wakeful plan {plan} has ended"),
        text: format!(
            "The plan {plan} has ended because {because}.\n\n\
             Your team is now on the plan {}. {} To choose a plan again:\n\n    {}\n",
            settings.billing.catalog.none().name,
            limits_notice(settings, now),
            settings.public_url,
        ),
    }
}

/// The consequences for a team that exceeds the limits of the plan None.
fn limits_notice(settings: &Settings, now: Millis) -> String {
    if !settings.billing.limits {
        return "Nothing is deleted.".to_owned();
    }
    let (until, none) = (date(now.after(REDUCTION_GRACE)), settings.billing.catalog.none());
    format!(
        "Everything stays as it is until {until}.\n\
         After that, monitors over the limits of {} are deactivated, the newest first, and\n\
         history older than {} days is deleted.",
        none.name, none.limits.history_days,
    )
}

/// Announces that a smaller plan deletes a part of the history, and when.
pub(super) fn history_deletion(settings: &Settings, plan: &Plan, at: Millis) -> EmailText {
    let (name, days) = (&plan.name, plan.limits.history_days);
    EmailText {
        subject: format!("History older than {days} days will be deleted"),
        text: format!(
            "The plan {name} includes {days} days of history, and your team has more.\n\n\
             All of it is retained until {}. After that, history older than {days} days is\n\
             permanently deleted. To keep it, choose a larger plan:\n\n    {}\n",
            date(at),
            settings.public_url,
        ),
    }
}

pub(super) fn over_limits(settings: &Settings, plan: &str, over: &str, until: Millis) -> EmailText {
    EmailText {
        subject: "Your team uses more than its Wakeful plan allows".into(),
        text: format!(
            "The plan {plan} allows less than your team uses: {over}.\n\n\
             Everything keeps running until {}. After that, the newest monitors over the\n\
             limit are deactivated; no monitor is deleted. To keep them running, choose a\n\
             larger plan:\n\n    {}\n",
            date(until),
            settings.public_url,
        ),
    }
}

pub(super) fn deactivated(settings: &Settings, plan: &str, count: usize) -> EmailText {
    EmailText {
        subject: format!("{count} monitors were deactivated"),
        text: format!(
            "For 14 days, your team used more than the plan {plan} allows, so {count} monitors\n\
             were deactivated. They are not deleted. To run them again, choose a larger plan\n\
             and activate them:\n\n    {}\n",
            settings.public_url,
        ),
    }
}
