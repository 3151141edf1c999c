//! The membership of a team: the requested plan and the current one.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::billing::Money;
use wakeful_core::id::{InvoiceId, MembershipId, PaymentMethodId};
use wakeful_core::time::Millis;
use wakeful_engine::billing::{
    ChosenPlan, Invoice, MembershipView, PayWith, Plan, PlanQuote, Price,
};

use super::enums::{InvoiceState, MembershipState};
use super::fields::Fields;
use super::payment_methods;
use crate::query::NextCursor;

/// A plan and its payment method.
#[derive(ToSchema)]
pub(crate) struct SaveMembership {
    /// The plan's id or name; case-insensitive.
    pub(crate) plan: String,
    /// `new` with the card's fields or a `token`, `methodID` with the field `methodID`, or the
    /// id of a saved method.
    #[schema(value_type = String)]
    pub(crate) method: PaymentChoice,
    #[schema(rename = "methodID", value_type = Option<String>)]
    #[expect(dead_code, reason = "read with method, as the next ones; only its schema is used")]
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

/// The payment method to use.
pub(crate) enum PaymentChoice {
    Pay(PayWith),
    /// An id that does not exist.
    Unknown,
}

impl SaveMembership {
    /// Reads a choice. `plan` says whether the plan can be chosen, so that this error is
    /// reported together with all others.
    pub(crate) fn read(
        fields: &mut Fields,
        now: Millis,
        plan: impl FnOnce(&str) -> Result<(), Invalid>,
    ) -> Option<Self> {
        let plan = plan_choice(fields, plan);
        let method = fields.text("method");
        let method = payment_choice(fields, &method?, now);
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

fn plan_choice(
    fields: &mut Fields,
    check: impl FnOnce(&str) -> Result<(), Invalid>,
) -> Option<String> {
    let text = fields.short_text("plan", 64)?;
    let allowed = check(&text).map(|()| text);
    fields.accept("plan", allowed)
}

fn payment_choice(fields: &mut Fields, method: &str, now: Millis) -> Option<PaymentChoice> {
    let saved = |text: &str| match PaymentMethodId::parse(text.trim()) {
        Some(id) => PaymentChoice::Pay(PayWith::Saved(id)),
        None => PaymentChoice::Unknown,
    };
    match method.trim() {
        word if word.eq_ignore_ascii_case("new") => payment_methods::source(fields, now)
            .map(|source| PaymentChoice::Pay(PayWith::New(source))),
        word if word.eq_ignore_ascii_case("methodID") => {
            fields.text("methodID").map(|text| saved(&text))
        }
        id => {
            let wrong = || Invalid::new("must be new, methodID or the id of a payment method");
            let id = PaymentMethodId::parse(id).ok_or_else(wrong);
            fields.accept("method", id).map(|id| PaymentChoice::Pay(PayWith::Saved(id)))
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MembershipSaved {
    success: bool,
    message: String,
    /// The id of the membership.
    #[serde(rename = "membershipToken")]
    #[schema(value_type = String)]
    membership_token: MembershipId,
}

impl MembershipSaved {
    pub(crate) fn of(chosen: &ChosenPlan) -> Self {
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
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PlanBody {
    planid: String,
    name: String,
    /// Per month, in cents; null if the operator sets the plan by contract.
    price: Option<i64>,
    currency: &'static str,
    /// The maximum number of active monitors; null for no limit.
    monitors: Option<u32>,
    /// Seconds.
    shortest_interval: u32,
    /// The maximum number of users; null for no limit.
    users: Option<u32>,
    history_days: u32,
    /// The maximum number of status pages; null for no limit.
    status_pages: Option<u32>,
    /// The maximum number of subscribers of all status pages; null for no limit.
    subscribers: Option<u32>,
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
            status_pages: plan.limits.status_pages,
            subscribers: plan.limits.subscribers,
        }
    }
}

/// The plan to preview. The other fields of `membership/save` are ignored.
#[derive(ToSchema)]
pub(crate) struct PreviewMembership {
    /// The plan's id or name; case-insensitive.
    pub(crate) plan: String,
}

impl PreviewMembership {
    pub(crate) fn read(
        fields: &mut Fields,
        plan: impl FnOnce(&str) -> Result<(), Invalid>,
    ) -> Option<Self> {
        plan_choice(fields, plan).map(|plan| Self { plan })
    }
}

/// What `membership/save` would charge now. Amounts are in cents.
#[derive(Serialize, ToSchema)]
pub(crate) struct MembershipPreview {
    success: bool,
    /// The price of the period that would be paid; 0 if the current period continues.
    amount: i64,
    /// The part of it that is paid with credit, including that for the unused part of the
    /// current plan.
    credit: i64,
    /// What the payment method is charged. An amount that is too small to be charged is
    /// waived.
    charge: i64,
    /// The credit that remains for later payments.
    credit_left: i64,
    currency: &'static str,
    /// The end of the paid period, when the plan renews.
    #[schema(value_type = Option<String>, format = DateTime)]
    renews: Option<Millis>,
}

impl MembershipPreview {
    pub(crate) fn of(quote: &PlanQuote) -> Self {
        Self {
            success: true,
            amount: quote.price.as_cents(),
            credit: quote.credit_used.as_cents(),
            charge: quote.charge.as_cents(),
            credit_left: quote.credit_left.as_cents(),
            currency: CURRENCY,
            renews: quote.renews,
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
    /// Whether the web app shows plans and payment.
    billing: bool,
    /// The payment processor: sandbox or stripe.
    processor: &'static str,
    /// For Stripe's own card form, which turns a card into a `token`, so that the card
    /// number is not sent to Wakeful. Null with the sandbox, and if none is set.
    publishable_key: Option<String>,
    membership: MembershipBody,
    usage: UsageBody,
}

/// How much of the current plan the team uses.
#[derive(Serialize, ToSchema)]
#[schema(as = MembershipUsage)]
pub(crate) struct UsageBody {
    /// Active monitors.
    monitors: i64,
    /// The maximum of active monitors; null for no limit.
    limit: Option<u32>,
    users: i64,
    /// The maximum of users; null for no limit.
    user_limit: Option<u32>,
    /// Active monitors with an interval below the plan's shortest.
    too_frequent: i64,
    /// Whether the server enforces the limits of plans.
    enforced: bool,
}

impl UsageBody {
    fn of(view: &MembershipView, enforced: bool) -> Self {
        let (usage, limits) = (view.usage, view.plan.limits);
        Self {
            monitors: usage.active_monitors,
            limit: limits.monitors,
            users: usage.users,
            user_limit: limits.users,
            too_frequent: usage.too_often,
            enforced,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MembershipBody {
    /// Null for a team that has never had a plan.
    #[serde(rename = "membershipToken")]
    #[schema(value_type = Option<String>)]
    membership_token: Option<MembershipId>,
    /// The current plan.
    plan: PlanBody,
    #[schema(value_type = MembershipState)]
    state: &'static str,
    /// Whether the operator set the plan; only the operator can then end it.
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
    methodid: Option<PaymentMethodId>,
    /// The credit toward the next payments, in cents.
    credit: i64,
    payment_under_way: bool,
}

impl MembershipAnswer {
    pub(crate) fn of(
        view: &MembershipView,
        billing: bool,
        processor: &'static str,
        publishable_key: Option<String>,
        limits_enforced: bool,
    ) -> Self {
        let usage = UsageBody::of(view, limits_enforced);
        let membership = MembershipBody {
            membership_token: view.membership,
            plan: PlanBody::of(&view.plan),
            state: view.state.as_str(),
            administered: view.set_by_operator,
            period_from: view.period.map(|period| period.from),
            period_until: view.period.map(|period| period.until),
            next_payment: view.next_payment.map(|(at, _)| at),
            next_amount: view.next_payment.map(|(_, amount)| amount.as_cents()),
            methodid: view.method,
            credit: view.credit.as_cents(),
            payment_under_way: view.payment_under_way,
        };
        Self { success: true, billing, processor, publishable_key, membership, usage }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct InvoiceList {
    success: bool,
    /// Newest first.
    invoices: Vec<InvoiceBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
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
    /// The price of the period, in cents.
    price: i64,
    /// The part of the price that was paid with credit, in cents.
    credit: i64,
    /// The amount that was charged, in cents.
    amount: i64,
    currency: &'static str,
    #[schema(value_type = InvoiceState)]
    state: &'static str,
    /// An explanation of the amount.
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
                state: invoice.state.as_str(),
                note: invoice.note,
                last4: invoice.last4,
                created: invoice.created,
                paid: invoice.paid,
            })
            .collect();
        Self { success: true, invoices, next_cursor }
    }
}
