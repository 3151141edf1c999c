//! Tests of payments when the processor, the network or the node fails: each charge is made
//! once, and the invoices match.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod cards;
mod faulty_processor;
mod stripe;

use faulty_processor::{Fault, FaultyProcessor};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{MailId, SessionId, TeamId, UserId};
use wakeful_core::token::{self, Digest};
use wakeful_engine::billing;
use wakeful_store::{Mail, NewAccount, NewSession};
use wakeful_testkit::{App, Client, DatabaseKind, Setup, User, both_databases, system_at};

const DAY: Duration = Duration::from_secs(24 * 3600);
const HOUR: Duration = Duration::from_secs(3600);

fn choose(plan: &str) -> Value {
    json!({"plan": plan, "method": "new", "cardholderName": "Ann", "expiryMonth": 12,
        "expiryYear": 2030, "cardNumber": "4242424242424242", "cvc": 123, "zipCode": "12345"})
}

async fn started(mut setup: Setup) -> (App, Arc<FaultyProcessor>, User) {
    let processor = Arc::new(FaultyProcessor::default());
    setup.settings.billing.processor = processor.clone();
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;
    (app, processor, ann)
}

async fn state(client: &Client) -> String {
    let held = client.get("membership/get").await.ok()["membership"].clone();
    format!("{} {}", held["plan"]["planid"].as_str().unwrap(), held["state"].as_str().unwrap())
}

async fn invoiced(client: &Client) -> Vec<i64> {
    let json = client.get("membership/invoices").await.ok();
    let invoices = json["invoices"].as_array().unwrap().iter();
    invoices
        .filter(|one| one["state"] == "paid")
        .map(|one| one["amount"].as_i64().unwrap())
        .collect()
}

async fn later(app: &App, user: &User, span: Duration) -> Client {
    app.clock.advance(span);
    billing::run_due(&app.engine).await.unwrap();
    user.log_in(&app.anonymous()).await.client
}

both_databases! {
    async fn a_lost_response_leads_to_one_charge_and_one_invoice(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        for fault in [Fault::LoseAnswer, Fault::Refuse] {
            let charges = processor.charges().len();
            processor.fail_with(fault, 1);
            let plan = if fault == Fault::LoseAnswer { "starter" } else { "pro" };
            ann.client.post("membership/save", &choose(plan)).await.refused(502, "payment_unclear");
            let held = ann.client.get("membership/get").await.ok()["membership"].clone();
            assert_eq!(held["payment_under_way"], true);
            ann.client.post("membership/save", &choose(plan)).await
                .refused(409, "payment_under_way");
            app.clock.advance(Duration::from_secs(60));
            billing::run_due(&app.engine).await.unwrap();
            assert_eq!(state(&ann.client).await, format!("{plan} active"));
            assert_eq!(processor.charges().len(), charges + 1);
            assert_eq!(invoiced(&ann.client).await.len(), charges + 1);
        }
        app.stop().await;
    }

    async fn a_payment_that_never_arrived_is_dropped_after_an_hour(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        processor.fail_with(Fault::Refuse, 100);
        ann.client.post("membership/save", &choose("pro")).await.refused(502, "payment_unclear");
        app.clock.advance(HOUR * 2);
        processor.fail_with(Fault::Refuse, 0);
        billing::run_due(&app.engine).await.unwrap();
        assert_eq!(state(&ann.client).await, "none none");
        assert_eq!(processor.charges().len(), 0);
        ann.client.post("membership/save", &choose("pro")).await.ok();
        assert_eq!(processor.charges().len(), 1);
        app.stop().await;
    }

    async fn a_node_that_dies_between_charge_and_commit_charges_once(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("pro")).await.ok();
        app.clock.advance(DAY * 30);
        // The node dies before it reads the response.
        processor.fail_with(Fault::Hang, 1);
        let engine = app.engine.clone();
        let dies = tokio::time::timeout(Duration::from_millis(500), billing::run_due(&engine)).await;
        assert!(dies.is_err(), "the node must die in the middle");
        assert_eq!(processor.charges().len(), 2);
        // Another node takes over when the lease has expired.
        for _ in 0..3 {
            billing::run_due(&app.engine).await.unwrap();
        }
        assert_eq!(processor.charges().len(), 2);
        let client = later(&app, &ann, Duration::from_secs(180)).await;
        assert_eq!(state(&client).await, "pro active");
        assert_eq!(invoiced(&client).await, [2900, 2900]);
        assert_eq!(processor.charges().len(), 2);
        app.stop().await;
    }

    async fn concurrent_nodes_charge_a_period_once(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("pro")).await.ok();
        app.clock.advance(DAY * 30);
        let rounds = (0..8).map(|_| billing::run_due(&app.engine));
        for done in futures_util::future::join_all(rounds).await {
            done.unwrap();
        }
        assert_eq!(processor.charges().len(), 2);
        let client = ann.log_in(&app.anonymous()).await.client;
        assert_eq!(invoiced(&client).await, [2900, 2900]);
        app.stop().await;
    }

    async fn concurrent_choices_of_a_plan_are_charged_once(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        let body = choose("pro");
        let calls = (0..8).map(|_| ann.client.post("membership/save", &body));
        let answers = futures_util::future::join_all(calls).await;
        for answer in &answers {
            assert!(matches!(answer.status, 200 | 409), "{}", answer.text);
        }
        assert_eq!(processor.charges(), [2900]);
        assert_eq!(invoiced(&ann.client).await, [2900]);
        app.stop().await;
    }

    async fn a_lost_response_to_a_new_card_leaves_one_method_or_none(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        processor.lose_attach(1);
        let body = choose("pro");
        ann.client.post("paymentmethod/save", &body).await.refused(502, "processor_failed");
        billing::run_due(&app.engine).await.unwrap();
        assert_eq!(processor.attached().len(), 0, "the abandoned method is detached");
        ann.client.post("paymentmethod/save", &body).await.ok();
        assert_eq!(processor.attached().len(), 1);
        app.stop().await;
    }

    async fn a_card_that_the_processor_lost_is_declined_and_another_pays(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("starter")).await.ok();
        let held = ann.client.get("membership/get").await.ok()["membership"].clone();
        processor.drop_all_customers();
        for _ in 0..2 {
            let saved = json!({"plan": "pro", "method": held["methodid"]});
            ann.client.post("membership/save", &saved).await.refused(402, "method_gone");
        }
        assert_eq!(state(&ann.client).await, "starter active");
        // The customer is gone as well: a new one is created.
        ann.client.post("membership/save", &choose("pro")).await.ok();
        assert_eq!(state(&ann.client).await, "pro active");
        assert_eq!((processor.charges().len(), processor.customers().len()), (2, 1));
        ann.client.post("paymentmethod/save", &choose("pro")).await.ok();
        assert_eq!((processor.attached().len(), processor.customers().len()), (2, 1));
        app.stop().await;
    }

    async fn a_renewal_of_a_lost_card_is_past_due_and_notified(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("pro")).await.ok();
        processor.drop_all_customers();
        let client = later(&app, &ann, DAY * 30).await;
        assert_eq!(state(&client).await, "pro past_due");
        let mails = app.mails("ann@example.com", 3).await;
        assert!(mails.iter().any(|mail| mail.contains("no longer accepts this saved card")));
        client.post("membership/save", &choose("pro")).await.ok();
        assert_eq!(state(&client).await, "pro active");
        assert_eq!(invoiced(&client).await, [2900, 2900]);
        // Without another card, the plan ends after five days.
        processor.drop_all_customers();
        let client = later(&app, &ann, DAY * 31).await;
        assert_eq!(state(&client).await, "pro past_due");
        for _ in 0..5 {
            later(&app, &ann, DAY).await;
        }
        let client = later(&app, &ann, HOUR).await;
        assert_eq!(state(&client).await, "none none");
        app.stop().await;
    }

    async fn a_refusal_of_the_processor_is_reported_at_once(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        processor.fail_with(Fault::Forbid, 1);
        ann.client.post("membership/save", &choose("pro")).await.refused(502, "processor_failed");
        assert_eq!(processor.attached().len(), 0, "the card is detached");
        ann.client.post("membership/save", &choose("pro")).await.ok();
        // A renewal waits until the operator has corrected the key.
        processor.fail_with(Fault::Forbid, 2);
        let client = later(&app, &ann, DAY * 30).await;
        assert_eq!(state(&client).await, "pro active");
        assert_eq!(processor.charges(), [2900]);
        for _ in 0..2 {
            later(&app, &ann, HOUR).await;
        }
        assert_eq!(processor.charges(), [2900, 2900]);
        assert_eq!(invoiced(&client).await, [2900, 2900]);
        app.stop().await;
    }

    async fn a_payment_at_a_processor_that_is_no_longer_used_is_dropped(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("starter")).await.ok();
        let held = ann.client.get("membership/get").await.ok()["membership"].clone();
        processor.fail_with(Fault::Refuse, 1);
        let saved = json!({"plan": "pro", "method": held["methodid"]});
        ann.client.post("membership/save", &saved).await.refused(502, "payment_unclear");
        let other = Arc::new(FaultyProcessor::named("other"));
        let used = other.clone();
        let app = app.restart_with(|setup| setup.settings.billing.processor = used).await;
        let client = app.anonymous().with_token(&ann.token);
        billing::run_due(&app.engine).await.unwrap();
        client.post("membership/save", &choose("pro")).await.refused(409, "payment_under_way");
        app.clock.advance(HOUR * 2);
        billing::run_due(&app.engine).await.unwrap();
        client.post("membership/save", &saved).await.refused(402, "method_gone");
        client.post("membership/save", &choose("pro")).await.ok();
        assert_eq!(other.charges().len(), 1);
        app.stop().await;
    }

    async fn deleting_the_last_user_removes_the_methods_at_the_processor(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("pro")).await.ok();
        ann.client.post("paymentmethod/save", &choose("pro")).await.ok();
        assert_eq!((processor.attached().len(), processor.customers().len()), (2, 1));
        processor.lose_detach(1);
        ann.client.post_nothing("user/delete").await.ok();
        billing::run_due(&app.engine).await.unwrap();
        app.clock.advance(HOUR);
        billing::run_due(&app.engine).await.unwrap();
        assert_eq!((processor.attached().len(), processor.customers().len()), (0, 0));
        app.clock.advance(DAY * 40);
        billing::run_due(&app.engine).await.unwrap();
        assert_eq!(processor.charges().len(), 1);
        app.stop().await;
    }

    async fn a_payment_for_a_deleted_team_is_refunded(setup: Setup) {
        let (app, processor, ann) = started(setup).await;
        processor.fail_with(Fault::LoseAnswer, 1);
        ann.client.post("membership/save", &choose("pro")).await.refused(502, "payment_unclear");
        ann.client.post_nothing("user/delete").await.ok();
        app.clock.advance(Duration::from_secs(60));
        billing::run_due(&app.engine).await.unwrap();
        assert_eq!((processor.charges().len(), processor.refunds()), (1, 1));
        app.stop().await;
    }

    async fn a_year_of_many_teams_adds_up_to_the_cent(setup: Setup) {
        let (app, processor, _) = started(setup).await;
        let teams = teams(app.database.kind());
        for number in 0..teams {
            let token = member(&app, number).await;
            let client = app.anonymous().with_token(&token);
            client.post("membership/save", &choose(PLANS[number % 3].0)).await.ok();
            // Spread over the first month.
            app.clock.advance(DAY * 20 / u32::try_from(teams).unwrap());
        }
        let first = app.engine.now();
        while app.engine.now().since(first) < DAY * 340 {
            app.clock.advance(DAY * 3);
            billing::run_due(&app.engine).await.unwrap();
        }
        // Twelve periods for each team, and none twice.
        let all = |number: usize| 12 * PLANS[number % 3].1;
        let expected: i64 = (0..teams).map(all).sum();
        assert_eq!(processor.charges().len(), teams * 12);
        assert_eq!(processor.charges().iter().sum::<i64>(), expected);
        let paid = "select cast(sum(amount) as bigint) from invoices where state = 'paid'";
        assert_eq!(app.database.number(paid).await, expected);
        let many = "select count(*) from (
            select 1 from invoices group by team_id, period_from having count(*) > 1) twice";
        assert_eq!(app.database.number(many).await, 0, "no period has two invoices");
        let left = "select count(*) from payment_attempts where state <> 'paid'";
        assert_eq!(app.database.number(left).await, 0);
        app.stop().await;
    }
}

const PLANS: [(&str, i64); 3] = [("starter", 900), ("pro", 2_900), ("business", 9_900)];

/// As many as the test suite has time for. `WAKEFUL_TEST_TEAMS=10000` takes much longer.
fn teams(kind: DatabaseKind) -> usize {
    let teams = std::env::var("WAKEFUL_TEST_TEAMS").ok().and_then(|text| text.parse().ok());
    teams.unwrap_or(if kind == DatabaseKind::Sqlite { 60 } else { 15 })
}

/// Adds a team with one user, without hashing a password; returns a token.
async fn member(app: &App, number: usize) -> String {
    let now = app.engine.now();
    let mut random = [7; 10];
    random[..8].copy_from_slice(&u64::try_from(number).unwrap().to_be_bytes());
    let mut secret = [1; 32];
    secret[..8].copy_from_slice(&u64::try_from(number).unwrap().to_be_bytes());
    let token = token::Kind::Bearer.issue(secret).expose().to_owned();
    let (team, user) = (TeamId::new(now, random), UserId::new(now, random));
    let email = EmailAddress::parse(&format!("u{number}@example.com")).unwrap();
    let to = email.to_string();
    let account = NewAccount { user, email, name: String::new(), password_hash: "-".into() };
    let digest = Digest::of(&token);
    let id = SessionId::new(now, random);
    let (address, agent) = (String::new(), String::new());
    let method = SessionMethod::Password;
    let session = NewSession { id, user, team, method, digest, address, agent };
    let id = MailId::new(now, random);
    let welcome = Mail { id, to, reply_to: None, subject: String::new(), text: String::new() };
    app.store.sign_up(team, &account, &session, &welcome, None, &system_at(now)).await.unwrap();
    token
}
