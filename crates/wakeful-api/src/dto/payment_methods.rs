//! Payment methods: cards that are passed to the processor, and the saved methods. Card
//! number and security code are taken out of the request as secrets and never returned.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::billing::{Card, CardNumber, CardSource, Cvc, Expiry};
use wakeful_core::id::PaymentMethodId;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_engine::billing::PaymentMethod;

use super::enums::PaymentMethodType;
use super::fields::{Fields, FromFields};
use crate::query::NextCursor;

/// The only type of payment methods so far.
pub(super) const METHOD_TYPE: &str = "credit card";

/// A card to save. `token` replaces the other fields if the card was entered in the
/// processor's own form.
#[derive(ToSchema)]
#[expect(dead_code, reason = "read as secrets; the fields are for the schema")]
pub(crate) struct SaveMethod {
    #[schema(rename = "cardholderName", max_length = 255)]
    cardholder_name: String,
    /// Digits, spaces and dashes.
    #[schema(rename = "cardNumber")]
    card_number: String,
    #[schema(rename = "expiryMonth", minimum = 1, maximum = 12)]
    expiry_month: u8,
    /// Four digits.
    #[schema(rename = "expiryYear")]
    expiry_year: u16,
    /// Three or four digits, as a number or a string.
    cvc: u16,
    #[schema(rename = "zipCode", max_length = 20)]
    zip_code: String,
    token: Option<String>,
}

/// The card or the token in a request.
pub(crate) fn source(fields: &mut Fields, now: Millis) -> Option<CardSource> {
    if fields.has("token") {
        let token = fields.short_text("token", 255)?;
        return Some(CardSource::Token(Secret::new(token)));
    }
    let name = fields.short_text("cardholderName", 255);
    let number = fields
        .secret_digits("cardNumber")
        .and_then(|text| fields.accept("cardNumber", CardNumber::parse(&text)));
    let expiry = expiry(fields, now);
    let cvc = fields.secret_digits("cvc").and_then(|text| fields.accept("cvc", Cvc::parse(text)));
    let zip = fields.optional_text_or_number("zipCode", |text| {
        let length = text.trim().chars().count();
        match length {
            1..=20 => Ok(text.trim().to_owned()),
            _ => Err(Invalid::new("must have 1 to 20 characters")),
        }
    });
    let zip = fields.require("zipCode", zip);
    Some(CardSource::Card(Card {
        name: name?,
        number: number?,
        expiry: expiry?,
        cvc: cvc?,
        zip: zip?,
    }))
}

fn expiry(fields: &mut Fields, now: Millis) -> Option<Expiry> {
    // Text that is not a number is rejected as a month or year.
    let number = |text: &str| text.trim().parse::<u64>().unwrap_or(u64::MAX);
    let month = fields.optional_text_or_number("expiryMonth", |text| Expiry::month(number(text)));
    let month = fields.require("expiryMonth", month);
    let year = fields.optional_text_or_number("expiryYear", |text| Expiry::year(number(text)));
    let year = fields.require("expiryYear", year);
    let expiry = Expiry::new(month?, year?);
    if !expiry.is_valid_at(now) {
        fields.refuse("expiryYear", "is in the past: the card has expired");
        return None;
    }
    Some(expiry)
}

/// A payment method named by its id.
#[derive(ToSchema)]
pub(crate) struct MethodName {
    #[schema(min_length = 1, pattern = r"\S")]
    methodid: String,
}

impl FromFields for MethodName {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { methodid: fields.text("methodid")? })
    }
}

impl MethodName {
    /// The id; `None` if it is malformed.
    pub(crate) fn id(&self) -> Option<PaymentMethodId> {
        PaymentMethodId::parse(&self.methodid)
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MethodList {
    success: bool,
    payment_methods: Vec<MethodBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(rename = "next_cursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MethodBody {
    #[schema(value_type = String, format = Uuid)]
    methodid: PaymentMethodId,
    #[schema(value_type = PaymentMethodType)]
    r#type: &'static str,
    last4: String,
    #[serde(rename = "expiryMonth")]
    expiry_month: i64,
    #[serde(rename = "expiryYear")]
    expiry_year: i64,
    #[serde(rename = "cardholderName")]
    cardholder_name: String,
    isdefault: bool,
}

impl MethodList {
    pub(crate) fn of(methods: Vec<PaymentMethod>, next_cursor: NextCursor) -> Self {
        let payment_methods = methods
            .into_iter()
            .map(|method| MethodBody {
                methodid: method.id,
                r#type: METHOD_TYPE,
                last4: method.last4,
                expiry_month: method.expiry_month,
                expiry_year: method.expiry_year,
                cardholder_name: method.cardholder_name,
                isdefault: method.isdefault,
            })
            .collect();
        Self { success: true, payment_methods, next_cursor }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MethodSaved {
    success: bool,
    message: String,
    #[schema(value_type = String, format = Uuid)]
    methodid: PaymentMethodId,
}

impl MethodSaved {
    pub(crate) fn of(methodid: PaymentMethodId) -> Self {
        Self { success: true, message: "Payment method saved.".into(), methodid }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MethodDefault {
    success: bool,
    message: String,
    #[schema(value_type = String, format = Uuid)]
    methodid: PaymentMethodId,
}

impl MethodDefault {
    pub(crate) fn of(methodid: PaymentMethodId) -> Self {
        Self { success: true, message: "Default payment method changed.".into(), methodid }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MethodDeleted {
    success: bool,
    message: String,
    /// The remaining payment methods.
    #[serde(rename = "paymentMethodids")]
    #[schema(value_type = Vec<String>)]
    payment_method_ids: Vec<PaymentMethodId>,
}

impl MethodDeleted {
    pub(crate) fn of(remaining: Vec<PaymentMethodId>) -> Self {
        let message = "Payment method deleted; a plan that is paid with it ends when its next payment is due.";
        Self { success: true, message: message.into(), payment_method_ids: remaining }
    }
}
