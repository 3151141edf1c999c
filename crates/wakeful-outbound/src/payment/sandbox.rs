//! The built-in processor: nothing leaves the machine and no money moves.
//! Stripe's public test numbers behave as at Stripe, any other card pays. It
//! has no state: the behavior of a method is part of its id, and an id derives
//! from its key, so that it survives a restart and a key works once.

use wakeful_core::billing::{CardSource, Expiry};
use wakeful_core::id::TeamId;
use wakeful_core::time::Millis;

use super::signature::BadSignature;
use super::{Callback, Decline, NewMethod, Order, PaymentError, PaymentFuture, Processor};

#[derive(Clone, Copy, Debug, Default)]
pub struct Sandbox;

/// The behavior of a method, by the word in its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behavior {
    Pays,
    /// Cannot be saved.
    Refuses(Decline),
    /// Can be saved, but is declined when charged.
    FailsLater,
}

const BEHAVIORS: [(&str, Behavior); 8] = [
    ("pays", Behavior::Pays),
    ("declined", Behavior::Refuses(Decline::Generic)),
    ("nofunds", Behavior::Refuses(Decline::InsufficientFunds)),
    ("expired", Behavior::Refuses(Decline::Expired)),
    ("incorrect", Behavior::Refuses(Decline::Incorrect)),
    ("processing", Behavior::Refuses(Decline::Processing)),
    ("authentication", Behavior::Refuses(Decline::AuthenticationRequired)),
    ("failslater", Behavior::FailsLater),
];

/// Test numbers and test tokens that do not simply pay.
const TEST_CARDS: [(&str, &str, &str); 17] = [
    ("4000000000000002", "pm_card_visa_chargeDeclined", "declined"),
    ("4000000000009995", "pm_card_visa_chargeDeclinedInsufficientFunds", "nofunds"),
    ("4000000000000069", "pm_card_chargeDeclinedExpiredCard", "expired"),
    ("4000000000000127", "pm_card_chargeDeclinedIncorrectCvc", "incorrect"),
    ("4000000000000119", "pm_card_chargeDeclinedProcessingError", "processing"),
    // The reasons lost, stolen, overused and blocked are not disclosed to the
    // cardholder.
    ("4000000000009987", "pm_card_visa_chargeDeclinedLostCard", "declined"),
    ("4000000000009979", "pm_card_visa_chargeDeclinedStolenCard", "declined"),
    ("4000000000006975", "pm_card_visa_chargeDeclinedVelocityLimitExceeded", "declined"),
    ("4100000000000019", "pm_card_radarBlock", "declined"),
    // No one can authenticate a scheduled payment.
    ("4000002500003155", "pm_card_authenticationRequiredOnSetup", "authentication"),
    ("4000002760003184", "pm_card_authenticationRequired", "authentication"),
    (
        "4000008260003178",
        "pm_card_authenticationRequiredChargeDeclinedInsufficientFunds",
        "authentication",
    ),
    ("4000000000003220", "pm_card_threeDSecure2Required", "authentication"),
    ("4000000000003063", "pm_card_threeDSecureRequired", "authentication"),
    ("4000008400001629", "pm_card_threeDSecureRequiredChargeDeclined", "authentication"),
    ("4000008400001280", "pm_card_threeDSecureRequiredProcessingError", "authentication"),
    ("4000000000000341", "pm_card_chargeCustomerFail", "failslater"),
];
const PAYING_TOKEN: &str = "pm_card_visa";
const PREFIX: &str = "pm_sandbox_";

impl Sandbox {
    fn make(key: &str, source: &CardSource) -> Result<NewMethod, PaymentError> {
        let (word, last4, expiry, name) = match source {
            CardSource::Card(card) => {
                let number = card.number.expose();
                let known = TEST_CARDS.iter().find(|(test, ..)| *test == number);
                let word = known.map_or("pays", |(.., word)| *word);
                (word, card.number.last4(), card.expiry, card.name.clone())
            }
            CardSource::Token(token) => {
                let (number, word) = match token.expose() {
                    PAYING_TOKEN => ("4242424242424242", "pays"),
                    text => TEST_CARDS
                        .iter()
                        .find(|(_, token, _)| *token == text)
                        .map(|(number, _, word)| (*number, *word))
                        .ok_or(PaymentError::Declined(Decline::BadToken))?,
                };
                (word, &number[number.len() - 4..], Expiry::new(12, 2099), String::new())
            }
        };
        let reference = format!("{PREFIX}{word}_{key}");
        Ok(NewMethod { reference, last4: last4.to_owned(), expiry, name })
    }

    fn behavior(method: &str) -> Result<Behavior, PaymentError> {
        let word = method.strip_prefix(PREFIX).and_then(|rest| rest.split('_').next());
        let behavior = BEHAVIORS.iter().find(|(name, _)| Some(*name) == word);
        behavior
            .map(|(_, behavior)| *behavior)
            .ok_or_else(|| PaymentError::Rejected("the sandbox did not create this method".into()))
    }

    fn outcome(key: &str, order: &Order) -> Result<String, PaymentError> {
        match Self::behavior(&order.method)? {
            Behavior::Pays => Ok(format!("pi_sandbox_{key}")),
            Behavior::Refuses(decline) => Err(PaymentError::Declined(decline)),
            Behavior::FailsLater => Err(PaymentError::Declined(Decline::Generic)),
        }
    }
}

fn now<'a, T: Send + 'a>(answer: Result<T, PaymentError>) -> PaymentFuture<'a, T> {
    Box::pin(std::future::ready(answer))
}

impl Processor for Sandbox {
    fn name(&self) -> &'static str {
        "sandbox"
    }

    fn customer<'a>(&'a self, _key: &'a str, team: TeamId) -> PaymentFuture<'a, String> {
        now(Ok(format!("cus_sandbox_{team}")))
    }

    fn customer_exists<'a>(&'a self, _customer: &'a str) -> PaymentFuture<'a, bool> {
        now(Ok(true))
    }

    fn create<'a>(&'a self, key: &'a str, source: &'a CardSource) -> PaymentFuture<'a, NewMethod> {
        now(Self::make(key, source))
    }

    fn attach<'a>(
        &'a self,
        _key: &'a str,
        _customer: &'a str,
        method: &'a str,
    ) -> PaymentFuture<'a, ()> {
        now(match Self::behavior(method) {
            Ok(Behavior::Refuses(decline)) => Err(PaymentError::Declined(decline)),
            Ok(Behavior::Pays | Behavior::FailsLater) => Ok(()),
            Err(error) => Err(error),
        })
    }

    fn detach<'a>(&'a self, _method: &'a str) -> PaymentFuture<'a, ()> {
        now(Ok(()))
    }

    fn delete_customer<'a>(&'a self, _customer: &'a str) -> PaymentFuture<'a, ()> {
        now(Ok(()))
    }

    fn charge<'a>(&'a self, key: &'a str, order: &'a Order) -> PaymentFuture<'a, String> {
        now(Self::outcome(key, order))
    }

    fn find_charge<'a>(
        &'a self,
        key: &'a str,
        order: &'a Order,
    ) -> PaymentFuture<'a, Option<String>> {
        now(Self::outcome(key, order).map(Some))
    }

    fn refund<'a>(&'a self, _key: &'a str, _charge: &'a str) -> PaymentFuture<'a, ()> {
        now(Ok(()))
    }

    /// The sandbox sends no callbacks, so none is accepted.
    fn callback(&self, _: &[u8], _: &str, _: Millis) -> Result<Option<Callback>, BadSignature> {
        Err(BadSignature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::billing::{Card, CardNumber, Cvc, Money};
    use wakeful_core::secret::Secret;

    fn card(number: &str) -> CardSource {
        CardSource::Card(Card {
            name: "Ann".into(),
            number: CardNumber::parse(&Secret::new(number)).expect("a number"),
            expiry: Expiry::new(12, 2030),
            cvc: Cvc::parse(Secret::new("123")).expect("a code"),
            zip: "12345".into(),
        })
    }

    /// The results of saving and then charging a source.
    async fn tried(
        source: &CardSource,
    ) -> (Result<(), PaymentError>, Result<String, PaymentError>) {
        let made = Sandbox.create("k1", source).await.expect("made");
        assert!(!made.reference.contains("4242424242424242"));
        let order = Order {
            customer: "c".into(),
            method: made.reference.clone(),
            amount: Money::cents(900),
            description: String::new(),
        };
        (Sandbox.attach("k2", "c", &made.reference).await, Sandbox.charge("k3", &order).await)
    }

    #[tokio::test]
    async fn the_public_test_numbers_behave_as_at_stripe() {
        let paid = Ok("pi_sandbox_k3".to_owned());
        assert_eq!(tried(&card("4242424242424242")).await, (Ok(()), paid.clone()));
        assert_eq!(tried(&card("5555555555554444")).await, (Ok(()), paid));
        let declined = |decline| Err(PaymentError::Declined(decline));
        for (number, decline) in [
            ("4000000000000002", Decline::Generic),
            ("4000000000009995", Decline::InsufficientFunds),
            ("4000000000000069", Decline::Expired),
            ("4000000000000127", Decline::Incorrect),
            ("4000000000000119", Decline::Processing),
            ("4000000000009987", Decline::Generic),
            ("4000000000009979", Decline::Generic),
            ("4000000000006975", Decline::Generic),
            ("4100000000000019", Decline::Generic),
            ("4000002500003155", Decline::AuthenticationRequired),
            ("4000002760003184", Decline::AuthenticationRequired),
            ("4000008260003178", Decline::AuthenticationRequired),
            ("4000000000003220", Decline::AuthenticationRequired),
            ("4000000000003063", Decline::AuthenticationRequired),
            ("4000008400001629", Decline::AuthenticationRequired),
            ("4000008400001280", Decline::AuthenticationRequired),
        ] {
            assert_eq!(tried(&card(number)).await.0, declined(decline), "{number}");
        }
        let (saved, charged) = tried(&card("4000000000000341")).await;
        assert_eq!((saved, charged.is_err()), (Ok(()), true));
    }

    #[test]
    fn every_test_number_can_be_sent_and_has_a_behavior() {
        for (number, _, word) in TEST_CARDS {
            assert!(CardNumber::parse(&Secret::new(number)).is_ok(), "{number}");
            assert!(BEHAVIORS.iter().any(|(name, _)| *name == word), "{number}: {word}");
        }
    }

    #[tokio::test]
    async fn a_token_behaves_like_its_card() {
        let token = |text: &str| CardSource::Token(Secret::new(text));
        assert!(tried(&token("pm_card_visa")).await.1.is_ok());
        assert!(tried(&token("pm_card_visa_chargeDeclined")).await.0.is_err());
        let unknown = Sandbox.create("k", &token("pm_nobody")).await;
        assert_eq!(unknown, Err(PaymentError::Declined(Decline::BadToken)));
    }

    #[tokio::test]
    async fn the_same_key_creates_the_same_method() {
        let source = card("4242424242424242");
        let once = Sandbox.create("k", &source).await;
        assert_eq!(once, Sandbox.create("k", &source).await);
        assert_ne!(once, Sandbox.create("another", &source).await);
    }
}
