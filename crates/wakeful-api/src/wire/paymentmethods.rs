//! Payment methods: cards on their way to the processor, and what is kept.
//! Number and code are taken out of the request as secrets and shown nowhere.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::billing::{Card, CardNumber, Cvc, Expiry, Source};
use wakeful_core::id::MethodId;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;
use wakeful_engine::billing::Method;

use super::fields::{Fields, Wire};
use crate::query::NextCursor;

/// A card to save; `token` in place of its fields when the processor's own page took it.
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
pub(crate) fn source(fields: &mut Fields, now: Millis) -> Option<Source> {
    if fields.has("token") {
        let token = fields.short_text("token", 255)?;
        return Some(Source::Token(Secret::new(token)));
    }
    let name = fields.short_text("cardholderName", 255);
    let number = fields
        .secret_digits("cardNumber")
        .and_then(|text| fields.believe("cardNumber", CardNumber::parse(&text)));
    let expiry = expiry(fields, now);
    let cvc = fields.secret_digits("cvc").and_then(|text| fields.believe("cvc", Cvc::parse(text)));
    let zip = fields.optional_text_or_number("zipCode", |text| {
        let length = text.trim().chars().count();
        match length {
            1..=20 => Ok(text.trim().to_owned()),
            _ => Err(Invalid::new("must have 1 to 20 characters")),
        }
    });
    let zip = fields.require("zipCode", zip);
    Some(Source::Card(Card { name: name?, number: number?, expiry: expiry?, cvc: cvc?, zip: zip? }))
}

fn expiry(fields: &mut Fields, now: Millis) -> Option<Expiry> {
    // What is no number is no month and no year either.
    let number = |text: &str| text.trim().parse::<u64>().unwrap_or(u64::MAX);
    let month = fields.optional_text_or_number("expiryMonth", |text| Expiry::month(number(text)));
    let month = fields.require("expiryMonth", month);
    let year = fields.optional_text_or_number("expiryYear", |text| Expiry::year(number(text)));
    let year = fields.require("expiryYear", year);
    let expiry = Expiry::new(month?, year?);
    if !expiry.good_at(now) {
        fields.refuse("expiryYear", "and expiryMonth lie in the past: the card has expired");
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

impl Wire for MethodName {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self { methodid: fields.text("methodid")? })
    }
}

impl MethodName {
    /// The id; nothing when it is no id of any method.
    pub(crate) fn id(&self) -> Option<MethodId> {
        MethodId::parse(&self.methodid)
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MethodList {
    success: bool,
    payment_methods: Vec<MethodBody>,
    /// Only with `limit`: where the next page begins, null at the end.
    #[serde(rename = "next_cursor", skip_serializing_if = "Option::is_none")]
    next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MethodBody {
    #[schema(value_type = String, format = Uuid)]
    methodid: MethodId,
    /// Always `credit card`.
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
    pub(crate) fn of(methods: Vec<Method>, next_cursor: NextCursor) -> Self {
        let payment_methods = methods
            .into_iter()
            .map(|method| MethodBody {
                methodid: method.id,
                r#type: "credit card",
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
    methodid: MethodId,
}

impl MethodSaved {
    pub(crate) fn of(methodid: MethodId) -> Self {
        Self { success: true, message: "The payment method is saved.".into(), methodid }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MethodDefault {
    success: bool,
    message: String,
    #[schema(value_type = String, format = Uuid)]
    methodid: MethodId,
}

impl MethodDefault {
    pub(crate) fn of(methodid: MethodId) -> Self {
        Self { success: true, message: "This payment method is the default now.".into(), methodid }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MethodDeleted {
    success: bool,
    message: String,
    /// Those that remain.
    #[serde(rename = "paymentMethodids")]
    #[schema(value_type = Vec<String>)]
    payment_method_ids: Vec<MethodId>,
}

impl MethodDeleted {
    pub(crate) fn of(remaining: Vec<MethodId>) -> Self {
        let message = "The payment method is deleted; a plan that is paid with it ends when its next payment is due.";
        Self { success: true, message: message.into(), payment_method_ids: remaining }
    }
}
