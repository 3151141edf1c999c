//! paymentmethods/get, paymentmethod/save, default and delete.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{Client, User, both_databases, concurrently};

/// A card as in the reference, valid on the test's clock.
pub(crate) fn card(number: &str) -> Value {
    json!({"cardholderName": "Ann Example", "cardNumber": number, "expiryMonth": 12,
        "expiryYear": 2030, "cvc": 123, "zipCode": "12345"})
}

pub(crate) async fn saved(client: &Client, number: &str) -> String {
    let json = client.post("paymentmethod/save", &card(number)).await.ok();
    assert!(json["message"].is_string());
    json["methodid"].as_str().unwrap().to_owned()
}

pub(crate) async fn methods(client: &Client) -> Vec<Value> {
    client.get("paymentmethods/get").await.ok()["paymentMethods"].as_array().unwrap().clone()
}

fn with(field: &str, value: Value) -> Value {
    let mut card = card("4242424242424242");
    card[field] = value;
    card
}

both_databases! {
    async fn a_saved_card_is_listed_without_its_secrets(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        assert!(methods(&ann.client).await.is_empty());
        let id = saved(&ann.client, "4242 4242-4242 4242").await;
        assert_eq!(methods(&ann.client).await, [json!({"methodid": id, "type": "credit card",
            "last4": "4242", "expiryMonth": 12, "expiryYear": 2030,
            "cardholderName": "Ann Example", "isdefault": true})]);
        app.stop().await;
    }

    async fn all_invalid_fields_of_a_card_are_reported_at_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        let all = ["cardholderName", "cardNumber", "expiryMonth", "expiryYear", "cvc", "zipCode"];
        assert_eq!(ann.post("paymentmethod/save", &json!({})).await.wrong_fields(), all);
        for (field, value) in [
            ("cardNumber", json!("4242424242424241")), ("cardNumber", json!("4242")),
            ("cardNumber", json!(["4242424242424242"])), ("cardNumber", json!("")),
            ("expiryMonth", json!(0)), ("expiryMonth", json!(13)), ("expiryMonth", json!("x")),
            ("expiryYear", json!(26)), ("expiryYear", json!(2025)), ("expiryYear", json!(-1)),
            ("cvc", json!("12")), ("cvc", json!(12345)), ("cvc", json!("12x")), ("cvc", json!(1.5)),
            ("cvc", json!(12)), ("cvc", json!(0)),
            ("zipCode", json!("")), ("zipCode", json!("1".repeat(21))),
            ("cardholderName", json!("")), ("cardholderName", json!("x".repeat(256))),
        ] {
            let answer = ann.post("paymentmethod/save", &with(field, value.clone())).await;
            assert_eq!(answer.wrong_fields(), [field], "{value}");
            assert!(!answer.text.contains("4242424242424241"), "{}", answer.text);
        }
        for (field, value) in [("cvc", json!("0123")), ("cvc", json!(1234)), ("zipCode", json!(12345)),
            ("expiryMonth", json!("11")), ("cardNumber", json!(4_242_424_242_424_242_u64))] {
            ann.post("paymentmethod/save", &with(field, value)).await.ok();
        }
        app.stop().await;
    }

    async fn a_card_is_valid_through_the_month_of_its_expiry(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        let expires = |month: u8, year: u16| {
            let mut card = card("4242424242424242");
            card["expiryMonth"] = json!(month);
            card["expiryYear"] = json!(year);
            card
        };
        ann.post("paymentmethod/save", &expires(11, 2026)).await.ok();
        let past = ann.post("paymentmethod/save", &expires(10, 2026)).await;
        assert_eq!(past.wrong_fields(), ["expiryYear"]);
        app.stop().await;
    }

    async fn a_declined_card_is_402_and_nothing_is_stored(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        for (number, code) in [("4000000000000002", "card_declined"),
            ("4000000000009995", "insufficient_funds"), ("4000000000000069", "expired_card"),
            ("4000000000000127", "incorrect_card"), ("4000000000000119", "processing_error"),
            ("4000000000009987", "card_declined"), ("4000002500003155", "authentication_required")] {
            ann.post("paymentmethod/save", &card(number)).await.refused(402, code);
        }
        assert!(methods(&ann).await.is_empty());
        saved(&ann, "4000000000000341").await;
        ann.post("paymentmethod/save", &json!({"token": "pm_card_visa"})).await.ok();
        let bad = ann.post("paymentmethod/save", &json!({"token": "pm_nobody"})).await;
        bad.refused(402, "bad_card_token");
        assert_eq!(methods(&ann).await.len(), 2);
        app.stop().await;
    }

    async fn when_the_default_is_deleted_the_newest_method_becomes_the_default(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(saved(&ann, "4242424242424242").await);
            // Ids created in the same millisecond have no defined order.
            app.clock.advance(Duration::from_millis(1));
        }
        let default = async || {
            let methods = methods(&ann).await;
            let of: Vec<_> = methods.iter().filter(|method| method["isdefault"] == true).collect();
            assert_eq!(of.len(), 1);
            of[0]["methodid"].as_str().unwrap().to_owned()
        };
        assert_eq!(default().await, ids[0]);
        let named = ann.post("paymentmethod/default", &json!({"methodid": ids[1]})).await.ok();
        assert_eq!(named["methodid"], ids[1].as_str());
        assert!(named["message"].is_string());
        assert_eq!(default().await, ids[1]);
        let left = ann.post("paymentmethod/delete", &json!({"methodid": ids[1]})).await.ok();
        assert_eq!(left["paymentMethodids"], json!([ids[0], ids[2]]));
        assert_eq!(default().await, ids[2]);
        for id in [&ids[0], &ids[2]] {
            ann.post("paymentmethod/delete", &json!({"methodid": id})).await.ok();
        }
        assert!(methods(&ann).await.is_empty());
        ann.post("paymentmethod/delete", &json!({"methodid": ids[0]})).await
            .refused(404, "not_found");
        app.stop().await;
    }

    async fn another_teams_method_is_not_found(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        let bob = app.sign_up("bob@example.com").await.client;
        let id = saved(&ann, "4242424242424242").await;
        let unknown = "019a8f3e-0000-7000-8000-000000000000";
        for path in ["paymentmethod/default", "paymentmethod/delete"] {
            let theirs = bob.post(path, &json!({"methodid": id})).await;
            let nobodys = bob.post(path, &json!({"methodid": unknown})).await;
            assert_eq!((theirs.status, &theirs.text), (404, &nobodys.text));
            bob.post(path, &json!({"methodid": "x"})).await.refused(404, "not_found");
            bob.post(path, &json!({})).await.wrong_fields();
        }
        for body in [json!({"plan": "pro", "method": id}),
            json!({"plan": "pro", "method": "methodID", "methodID": id})] {
            bob.post("membership/save", &body).await.refused(404, "not_found");
        }
        assert_eq!(methods(&ann).await[0]["isdefault"], true);
        app.stop().await;
    }

    async fn credentials_are_required(setup: Setup) {
        let app = setup.start().await;
        let anonymous = app.anonymous();
        for path in ["paymentmethods/get", "membership/plans", "membership/get",
            "membership/invoices"] {
            anonymous.get(path).await.refused(401, "not_authenticated");
        }
        for path in ["paymentmethod/save", "paymentmethod/default", "paymentmethod/delete",
            "membership/save", "membership/stop", "/api/membership/save"] {
            anonymous.post(path, &json!({})).await.refused(401, "not_authenticated");
        }
        app.stop().await;
    }

    async fn declined_cards_are_limited_per_team_and_address(setup: Setup) {
        let app = setup.start_behind_proxy().await;
        let (good, bad) = (card("4242424242424242"), card("4000000000000002"));
        let user = User::sign_up(&app.caller_from("10.0.0.1"), "ann@example.com").await;
        let ann = user.client.clone();
        // Accepted cards do not count.
        for _ in 0..3 {
            ann.post("paymentmethod/save", &good).await.ok();
        }
        let answers = concurrently((0..15).map(|_| (ann.clone(), bad.clone())), |(ann, bad)| async move {
            ann.post("paymentmethod/save", &bad).await.status
        }).await;
        assert_eq!(answers.iter().filter(|status| **status == 402).count(), 10, "{answers:?}");
        let limited = ann.post("paymentmethod/save", &good).await;
        limited.refused(429, "too_many_requests");
        let wait: u64 = limited.header("retry-after").parse().unwrap();
        assert!((1..=3600).contains(&wait), "{wait}");
        let mut body = good.clone();
        body["plan"] = json!("pro");
        body["method"] = json!("new");
        ann.post("membership/save", &body).await.refused(429, "too_many_requests");

        // Another team at the same address has a few attempts left, and then none.
        let eve = User::sign_up(&app.caller_from("10.0.0.1"), "eve@example.com").await.client;
        let mut left = 0;
        while eve.post("paymentmethod/save", &bad).await.status == 402 {
            left += 1;
        }
        assert_eq!(left, 10);
        let dan = User::sign_up(&app.caller_from("10.0.0.1"), "dan@example.com").await.client;
        dan.post("paymentmethod/save", &good).await.refused(429, "too_many_requests");
        // Other users are not affected, and a restart does not reset the limit.
        let bob = User::sign_up(&app.caller_from("10.0.0.2"), "bob@example.com").await.client;
        bob.post("paymentmethod/save", &good).await.ok();
        let app = app.restart().await;
        let ann = app.caller_from("10.0.0.1").with_token(&user.token);
        ann.post("paymentmethod/save", &good).await.refused(429, "too_many_requests");
        app.clock.advance(Duration::from_secs(3_601));
        ann.post("paymentmethod/save", &good).await.ok();
        app.stop().await;
    }
}
