//! The membership of a team: the plan that is asked for, and what is held.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::billing::Money;
use wakeful_core::id::{InvoiceId, MembershipId, MethodId};
use wakeful_core::time::Millis;
use wakeful_engine::billing::{Chosen, Invoice, MembershipView, PayWith, Plan, Price};

use super::fields::Fields;
use super::paymentmethods;
use crate::query::NextCursor;

/// A plan, and what it is paid with.
#[derive(ToSchema)]
pub(crate) struct SaveMembership {
    /// The plan's id or name, in any letter case.
    pub(crate) plan: String,
    /// `new` with the card's fields or a `token`, `methodID` with `methodID`, or the id of a saved method.
    #[schema(value_type = String)]
    pub(crate) method: With,
    #[schema(rename = "methodID", value_type = Option<String>)]
    #[expect(dead_code, reason = "read with method, as the next ones; kept for the schema")]
    method_id: (),
    #[schema(rename = "cardholderName", value_type = Option<String>)]
    #[expect(dead_code, reason = "see methodID")]
    cardholder_name: (),
    #[schema(rename = "cardNumber", value_type = Option<String>)]
    #[expect(dead_code, reason = "see methodID")]
    card_number: (),
    #[schema(rename = "expiryMonth", value_type = Option<u8>)]
    #[expect(dead_code, reason = "see methodID")]
    expiry_month: (),
    #[schema(rename = "expiryYear", value_type = Option<u16>)]
    #[expect(dead_code, reason = "see methodID")]
    expiry_year: (),
    #[schema(value_type = Option<u16>)]
    #[expect(dead_code, reason = "see methodID")]
    cvc: (),
    #[schema(rename = "zipCode", value_type = Option<String>)]
    #[expect(dead_code, reason = "see methodID")]
    zip_code: (),
    #[schema(value_type = Option<String>)]
    #[expect(dead_code, reason = "see methodID")]
    token: (),
}

/// What to pay with, when it can be.
pub(crate) enum With {
    Pay(PayWith),
    /// An id that no method has.
    Nobody,
}

impl SaveMembership {
    /// Reads a choice; `plan` says whether one can be chosen at all, so that it
    /// is told with everything else that is wrong.
    pub(crate) fn read(
        fields: &mut Fields,
        now: Millis,
        plan: impl FnOnce(&str) -> Result<(), Invalid>,
    ) -> Option<Self> {
        let text = fields.short_text("plan", 64);
        let plan = text.and_then(|text| {
            let allowed = plan(&text).map(|()| text);
            fields.believe("plan", allowed)
        });
        let method = fields.text("method");
        let method = with(fields, &method?, now);
        Some(Self {
            plan: plan?,
            method: method?,
            method_id: (),
            cardholder_name: (),
            card_number: (),
            expiry_month: (),
            expiry_year: (),
            cvc: (),
            zip_code: (),
            token: (),
        })
    }
}

fn with(fields: &mut Fields, method: &str, now: Millis) -> Option<With> {
    let saved = |text: &str| match MethodId::parse(text.trim()) {
        Some(id) => With::Pay(PayWith::Saved(id)),
        None => With::Nobody,
    };
    match method.trim() {
        word if word.eq_ignore_ascii_case("new") => {
            paymentmethods::source(fields, now).map(|source| With::Pay(PayWith::New(source)))
        }
        word if word.eq_ignore_ascii_case("methodID") => {
            fields.text("methodID").map(|text| saved(&text))
        }
        id => {
            let wrong = || Invalid::new("must be new, methodID or the id of a payment method");
            let id = MethodId::parse(id).ok_or_else(wrong);
            fields.believe("method", id).map(|id| With::Pay(PayWith::Saved(id)))
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MembershipSaved {
    success: bool,
    message: String,
    /// The opaque id of the membership.
    #[serde(rename = "membershipToken")]
    #[schema(value_type = String)]
    membership_token: MembershipId,
}

impl MembershipSaved {
    pub(crate) fn of(chosen: &Chosen) -> Self {
        let until = chosen.paid_until.map(|at| format!(", paid until {at}")).unwrap_or_default();
        let message = format!("The team's plan is {}{until}.", chosen.plan);
        Self { success: true, message, membership_token: chosen.membership }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PlanList {
    success: bool,
    /// From the smallest to the largest.
    plans: Vec<PlanBody>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PlanBody {
    planid: String,
    name: String,
    /// A month, in cents; null: by contract, set by an administrator.
    price: Option<i64>,
    currency: &'static str,
    /// The most active monitors; null: no limit.
    monitors: Option<u32>,
    /// Seconds.
    shortest_interval: u32,
    /// The most users; null: no limit.
    users: Option<u32>,
    history_days: u32,
}

impl PlanBody {
    fn of(plan: &Plan) -> Self {
        Self {
            planid: plan.id.to_string(),
            name: plan.name.clone(),
            price: match plan.price {
                Price::Free => Some(0),
                Price::Monthly(price) => Some(price.as_cents()),
                Price::Contract => None,
            },
            currency: CURRENCY,
            monitors: plan.limits.monitors,
            shortest_interval: plan.limits.shortest_interval,
            users: plan.limits.users,
            history_days: plan.limits.history_days,
        }
    }
}

const CURRENCY: &str = "USD";

impl PlanList {
    pub(crate) fn of<'a>(plans: impl Iterator<Item = &'a Plan>, next_cursor: NextCursor) -> Self {
        Self { success: true, plans: plans.map(PlanBody::of).collect(), next_cursor }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MembershipAnswer {
    success: bool,
    /// Whether the page shows plans and payment.
    billing: bool,
    /// Who moves the money: sandbox or stripe.
    processor: &'static str,
    /// For Stripe's own card form: with it a card becomes a `token`, and its number
    /// need not be sent here. Null with the sandbox, and when none is set.
    publishable_key: Option<String>,
    membership: MembershipBody,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MembershipBody {
    /// Null for a team that never had a plan.
    #[serde(rename = "membershipToken")]
    #[schema(value_type = Option<String>)]
    membership_token: Option<MembershipId>,
    /// The plan that serves now.
    plan: PlanBody,
    /// none, active, cancelled or past_due.
    state: &'static str,
    /// Set by an administrator, who alone can end it.
    administered: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    period_from: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    period_until: Option<Millis>,
    #[schema(value_type = Option<String>, format = DateTime)]
    next_payment: Option<Millis>,
    /// In cents.
    next_amount: Option<i64>,
    #[schema(value_type = Option<String>)]
    methodid: Option<MethodId>,
    /// What lowers the next payments, in cents.
    credit: i64,
    payment_under_way: bool,
}

impl MembershipAnswer {
    pub(crate) fn of(
        view: &MembershipView,
        billing: bool,
        processor: &'static str,
        publishable_key: Option<String>,
    ) -> Self {
        let membership = MembershipBody {
            membership_token: view.membership,
            plan: PlanBody::of(&view.plan),
            state: view.state,
            administered: view.administered,
            period_from: view.period.map(|period| period.from),
            period_until: view.period.map(|period| period.until),
            next_payment: view.next_payment.map(|(at, _)| at),
            next_amount: view.next_payment.map(|(_, amount)| amount.as_cents()),
            methodid: view.method,
            credit: view.credit.as_cents(),
            payment_under_way: view.payment_under_way,
        };
        Self { success: true, billing, processor, publishable_key, membership }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct InvoiceList {
    success: bool,
    /// Newest first.
    invoices: Vec<InvoiceBody>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct InvoiceBody {
    #[schema(value_type = String, format = Uuid)]
    invoiceid: InvoiceId,
    number: String,
    /// The plan's id.
    plan: String,
    #[schema(value_type = String, format = DateTime)]
    period_from: Millis,
    #[schema(value_type = String, format = DateTime)]
    period_until: Millis,
    /// Of the period, in cents.
    price: i64,
    /// What of it was paid by credit, in cents.
    credit: i64,
    /// What was charged, in cents.
    amount: i64,
    currency: &'static str,
    /// open, paid, or void: never paid and no longer asked for.
    state: String,
    /// How the amount came about.
    note: String,
    /// The last four digits of the card.
    last4: String,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = Option<String>, format = DateTime)]
    paid: Option<Millis>,
}

impl InvoiceList {
    pub(crate) fn of(invoices: Vec<Invoice>, next_cursor: NextCursor) -> Self {
        let cents = Money::as_cents;
        let invoices = invoices
            .into_iter()
            .map(|invoice| InvoiceBody {
                invoiceid: invoice.id,
                number: invoice.number(),
                plan: invoice.plan,
                period_from: invoice.from,
                period_until: invoice.until,
                price: cents(invoice.price),
                credit: cents(invoice.credit),
                amount: cents(invoice.amount),
                currency: CURRENCY,
                state: invoice.state,
                note: invoice.note,
                last4: invoice.last4,
                created: invoice.created,
                paid: invoice.paid,
            })
            .collect();
        Self { success: true, invoices, next_cursor }
    }
}
