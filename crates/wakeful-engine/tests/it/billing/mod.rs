//! Payments when the processor, the network or the node fails: money moves
//! once, and the books say so.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

mod cards;
mod stripe;
mod teller;

use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use teller::{Fault, Teller};
use wakeful_core::email::Email;
use wakeful_core::id::{MailId, SessionId, TeamId, UserId};
use wakeful_core::token::{self, Digest};
use wakeful_engine::billing;
use wakeful_store::{Mail, NewAccount, NewSession};
use wakeful_testkit::{App, Client, Engine, Setup, User, both_engines};

const DAY: Duration = Duration::from_secs(24 * 3600);
const HOUR: Duration = Duration::from_secs(3600);

fn choose(plan: &str) -> Value {
    json!({"plan": plan, "method": "new", "cardholderName": "Ann", "expiryMonth": 12,
        "expiryYear": 2030, "cardNumber": "4242424242424242", "cvc": 123, "zipCode": "12345"})
}

async fn started(mut setup: Setup) -> (App, Arc<Teller>, User) {
    let teller = Arc::new(Teller::default());
    setup.settings.billing.processor = teller.clone();
    let app = setup.start().await;
    let ann = app.sign_up("ann@example.com").await;
    (app, teller, ann)
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
    billing::round(&app.engine).await.unwrap();
    user.log_in(&app.anonymous()).await.client
}

both_engines! {
    async fn a_lost_answer_is_one_charge_and_one_invoice(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        for fault in [Fault::LoseAnswer, Fault::Refuse] {
            let moved = teller.charges().len();
            teller.fail_with(fault, 1);
            let plan = if fault == Fault::LoseAnswer { "starter" } else { "pro" };
            ann.client.post("membership/save", &choose(plan)).await.refused(502, "payment_unclear");
            let held = ann.client.get("membership/get").await.ok()["membership"].clone();
            assert_eq!(held["payment_under_way"], true);
            ann.client.post("membership/save", &choose(plan)).await
                .refused(409, "payment_under_way");
            app.clock.advance(Duration::from_secs(60));
            billing::round(&app.engine).await.unwrap();
            assert_eq!(state(&ann.client).await, format!("{plan} active"));
            assert_eq!(teller.charges().len(), moved + 1);
            assert_eq!(invoiced(&ann.client).await.len(), moved + 1);
        }
        app.stop().await;
    }

    async fn a_payment_that_never_arrived_is_dropped_after_an_hour(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        teller.fail_with(Fault::Refuse, 100);
        ann.client.post("membership/save", &choose("pro")).await.refused(502, "payment_unclear");
        app.clock.advance(HOUR * 2);
        teller.fail_with(Fault::Refuse, 0);
        billing::round(&app.engine).await.unwrap();
        assert_eq!(state(&ann.client).await, "none none");
        assert_eq!(teller.charges().len(), 0);
        ann.client.post("membership/save", &choose("pro")).await.ok();
        assert_eq!(teller.charges().len(), 1);
        app.stop().await;
    }

    async fn a_node_that_dies_between_charge_and_commit_charges_once(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("pro")).await.ok();
        app.clock.advance(DAY * 30);
        // The answer comes, and the node is gone before it reads it.
        teller.fail_with(Fault::Hang, 1);
        let engine = app.engine.clone();
        let dies = tokio::time::timeout(Duration::from_millis(500), billing::round(&engine)).await;
        assert!(dies.is_err(), "the node was to die in the middle");
        assert_eq!(teller.charges().len(), 2);
        // Another node takes over when the lease has ended.
        for _ in 0..3 {
            billing::round(&app.engine).await.unwrap();
        }
        assert_eq!(teller.charges().len(), 2);
        let client = later(&app, &ann, Duration::from_secs(180)).await;
        assert_eq!(state(&client).await, "pro active");
        assert_eq!(invoiced(&client).await, [2900, 2900]);
        assert_eq!(teller.charges().len(), 2);
        app.stop().await;
    }

    async fn many_nodes_at_once_charge_a_period_once(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("pro")).await.ok();
        app.clock.advance(DAY * 30);
        let rounds = (0..8).map(|_| billing::round(&app.engine));
        for done in futures_util::future::join_all(rounds).await {
            done.unwrap();
        }
        assert_eq!(teller.charges().len(), 2);
        let client = ann.log_in(&app.anonymous()).await.client;
        assert_eq!(invoiced(&client).await, [2900, 2900]);
        app.stop().await;
    }

    async fn choosing_a_plan_many_times_at_once_charges_it_once(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        let body = choose("pro");
        let calls = (0..8).map(|_| ann.client.post("membership/save", &body));
        let answers = futures_util::future::join_all(calls).await;
        for answer in &answers {
            assert!(matches!(answer.status, 200 | 409), "{}", answer.text);
        }
        assert_eq!(teller.charges(), [2900]);
        assert_eq!(invoiced(&ann.client).await, [2900]);
        app.stop().await;
    }

    async fn a_dropped_answer_to_a_card_leaves_one_method_or_none(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        teller.lose_attach(1);
        let body = choose("pro");
        ann.client.post("paymentmethod/save", &body).await.refused(502, "processor_failed");
        billing::round(&app.engine).await.unwrap();
        assert_eq!(teller.attached().len(), 0, "what nobody knows of is taken back");
        ann.client.post("paymentmethod/save", &body).await.ok();
        assert_eq!(teller.attached().len(), 1);
        app.stop().await;
    }

    async fn a_card_that_the_processor_lost_is_declined_and_another_pays(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("starter")).await.ok();
        let held = ann.client.get("membership/get").await.ok()["membership"].clone();
        teller.forget_all();
        for _ in 0..2 {
            let saved = json!({"plan": "pro", "method": held["methodid"]});
            ann.client.post("membership/save", &saved).await.refused(402, "method_gone");
        }
        assert_eq!(state(&ann.client).await, "starter active");
        // The customer is gone as well: another is made, and not the old one again.
        ann.client.post("membership/save", &choose("pro")).await.ok();
        assert_eq!(state(&ann.client).await, "pro active");
        assert_eq!((teller.charges().len(), teller.customers().len()), (2, 1));
        ann.client.post("paymentmethod/save", &choose("pro")).await.ok();
        assert_eq!((teller.attached().len(), teller.customers().len()), (2, 1));
        app.stop().await;
    }

    async fn a_renewal_of_a_lost_card_is_past_due_and_told(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("pro")).await.ok();
        teller.forget_all();
        let client = later(&app, &ann, DAY * 30).await;
        assert_eq!(state(&client).await, "pro past_due");
        let mails = app.mails("ann@example.com", 3).await;
        assert!(mails.iter().any(|mail| mail.contains("no longer takes this saved card")));
        client.post("membership/save", &choose("pro")).await.ok();
        assert_eq!(state(&client).await, "pro active");
        assert_eq!(invoiced(&client).await, [2900, 2900]);
        // And who gives no other card loses the plan after five days.
        teller.forget_all();
        let client = later(&app, &ann, DAY * 31).await;
        assert_eq!(state(&client).await, "pro past_due");
        for _ in 0..5 {
            later(&app, &ann, DAY).await;
        }
        let client = later(&app, &ann, HOUR).await;
        assert_eq!(state(&client).await, "none none");
        app.stop().await;
    }

    async fn a_processor_that_does_not_talk_to_us_keeps_nobody_waiting(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        teller.fail_with(Fault::Forbid, 1);
        ann.client.post("membership/save", &choose("pro")).await.refused(502, "processor_failed");
        assert_eq!(teller.attached().len(), 0, "the card is taken back");
        ann.client.post("membership/save", &choose("pro")).await.ok();
        // A scheduled payment waits until the operator has mended the key.
        teller.fail_with(Fault::Forbid, 2);
        let client = later(&app, &ann, DAY * 30).await;
        assert_eq!(state(&client).await, "pro active");
        assert_eq!(teller.charges(), [2900]);
        for _ in 0..2 {
            later(&app, &ann, HOUR).await;
        }
        assert_eq!(teller.charges(), [2900, 2900]);
        assert_eq!(invoiced(&client).await, [2900, 2900]);
        app.stop().await;
    }

    async fn a_payment_at_a_processor_that_is_no_longer_used_comes_to_an_end(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("starter")).await.ok();
        let held = ann.client.get("membership/get").await.ok()["membership"].clone();
        teller.fail_with(Fault::Refuse, 1);
        let saved = json!({"plan": "pro", "method": held["methodid"]});
        ann.client.post("membership/save", &saved).await.refused(502, "payment_unclear");
        let other = Arc::new(Teller::named("other"));
        let used = other.clone();
        let app = app.restart_with(|setup| setup.settings.billing.processor = used).await;
        let client = app.anonymous().with_token(&ann.token);
        billing::round(&app.engine).await.unwrap();
        client.post("membership/save", &choose("pro")).await.refused(409, "payment_under_way");
        app.clock.advance(HOUR * 2);
        billing::round(&app.engine).await.unwrap();
        client.post("membership/save", &saved).await.refused(402, "method_gone");
        client.post("membership/save", &choose("pro")).await.ok();
        assert_eq!(other.charges().len(), 1);
        app.stop().await;
    }

    async fn the_last_user_takes_the_methods_along_at_the_processor_too(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        ann.client.post("membership/save", &choose("pro")).await.ok();
        ann.client.post("paymentmethod/save", &choose("pro")).await.ok();
        assert_eq!((teller.attached().len(), teller.customers().len()), (2, 1));
        teller.lose_detach(1);
        ann.client.post_nothing("user/delete").await.ok();
        billing::round(&app.engine).await.unwrap();
        app.clock.advance(HOUR);
        billing::round(&app.engine).await.unwrap();
        assert_eq!((teller.attached().len(), teller.customers().len()), (0, 0));
        app.clock.advance(DAY * 40);
        billing::round(&app.engine).await.unwrap();
        assert_eq!(teller.charges().len(), 1);
        app.stop().await;
    }

    async fn money_for_a_team_that_went_meanwhile_is_given_back(setup: Setup) {
        let (app, teller, ann) = started(setup).await;
        teller.fail_with(Fault::LoseAnswer, 1);
        ann.client.post("membership/save", &choose("pro")).await.refused(502, "payment_unclear");
        ann.client.post_nothing("user/delete").await.ok();
        app.clock.advance(Duration::from_secs(60));
        billing::round(&app.engine).await.unwrap();
        assert_eq!((teller.charges().len(), teller.refunds()), (1, 1));
        app.stop().await;
    }

    async fn a_year_of_many_teams_adds_up_to_the_cent(setup: Setup) {
        let (app, teller, _) = started(setup).await;
        let teams = teams(app.database.engine());
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
            billing::round(&app.engine).await.unwrap();
        }
        // Twelve periods each, and none twice.
        let all = |number: usize| 12 * PLANS[number % 3].1;
        let expected: i64 = (0..teams).map(all).sum();
        assert_eq!(teller.charges().len(), teams * 12);
        assert_eq!(teller.charges().iter().sum::<i64>(), expected);
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

/// As many as a suite has time for. `WAKEFUL_TEST_TEAMS=10000` takes its time.
fn teams(engine: Engine) -> usize {
    let asked = std::env::var("WAKEFUL_TEST_TEAMS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(if engine == Engine::Sqlite { 60 } else { 15 })
}

/// A team of its own, made without the work that a password is; its token.
async fn member(app: &App, number: usize) -> String {
    let now = app.engine.now();
    let mut unlike = [7; 10];
    unlike[..8].copy_from_slice(&u64::try_from(number).unwrap().to_be_bytes());
    let mut secret = [1; 32];
    secret[..8].copy_from_slice(&u64::try_from(number).unwrap().to_be_bytes());
    let token = token::Kind::Bearer.issue(secret).expose().to_owned();
    let (team, user) = (TeamId::new(now, unlike), UserId::new(now, unlike));
    let email = Email::parse(&format!("u{number}@example.com")).unwrap();
    let to = email.to_string();
    let account = NewAccount { user, email, name: String::new(), password_hash: "-".into() };
    let digest = Digest::of(&token);
    let id = SessionId::new(now, unlike);
    let session = NewSession { id, user, digest, address: String::new(), agent: String::new() };
    let id = MailId::new(now, unlike);
    let welcome = Mail { id, to, reply_to: None, subject: String::new(), text: String::new() };
    app.store.sign_up(team, &account, &session, &welcome, now).await.unwrap();
    token
}
