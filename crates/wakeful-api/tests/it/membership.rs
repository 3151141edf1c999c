//! membership/save, stop, plans, get and invoices, and scheduled payments.

use serde_json::{Value, json};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wakeful_core::billing::{Money, PlanId};
use wakeful_core::id::TeamId;
use wakeful_engine::billing;
use wakeful_engine::history::compactor;
use wakeful_testkit::{App, Client, PASSWORD, Setup, User, both_databases, concurrently};

use crate::payment_methods::{card, methods, saved};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn plan_with(plan: &str, number: &str) -> Value {
    let mut body = card(number);
    body["plan"] = json!(plan);
    body["method"] = json!("new");
    body
}

async fn membership(client: &Client) -> Value {
    client.get("membership/get").await.ok()["membership"].clone()
}

async fn plan_and_state(client: &Client) -> String {
    let held = membership(client).await;
    format!("{} {}", held["plan"]["planid"].as_str().unwrap(), held["state"].as_str().unwrap())
}

/// Amounts and states of the invoices, oldest first.
async fn invoices(client: &Client) -> Vec<String> {
    let json = client.get("membership/invoices").await.ok();
    let mut lines: Vec<String> = json["invoices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            format!(
                "{} {} {}",
                one["plan"].as_str().unwrap(),
                one["amount"],
                one["state"].as_str().unwrap()
            )
        })
        .collect();
    lines.reverse();
    lines
}

/// Advances the clock by some days, processes due payments and logs the user in again.
async fn after(app: &App, user: &User, days: u32) -> Client {
    app.clock.advance(DAY * days);
    billing::run_due(&app.engine).await.unwrap();
    user.log_in(&app.anonymous()).await.client
}

/// The number of mails that contain this text.
fn count(mails: &[String], text: &str) -> usize {
    mails.iter().filter(|mail| mail.contains(text)).count()
}

fn team(user: &User) -> TeamId {
    TeamId::parse(&user.team).unwrap()
}

/// A service that enforces the limits of plans.
pub(crate) async fn limited(mut setup: Setup) -> App {
    setup.settings.billing.limits = true;
    setup.start().await
}

/// The same, with these limits for the plan None.
async fn narrow(mut setup: Setup, monitors: u32, users: u32) -> App {
    let mut plans = billing::Catalog::built_in().plans().to_vec();
    plans[0].limits.monitors = Some(monitors);
    plans[0].limits.users = Some(users);
    setup.settings.billing.catalog = billing::Catalog::new(plans).unwrap();
    limited(setup).await
}

fn listening(active: bool) -> Value {
    json!({"name": "m", "type": "api", "heartbeat_interval": 60, "isactive": active,
        "upside_down_mode": false})
}

/// The number of these concurrent calls that got this status.
async fn at_once(calls: Vec<(Client, &'static str, Value)>, status: u16) -> usize {
    let answers =
        concurrently(
            calls,
            |(client, path, body)| async move { client.post(path, &body).await.status },
        );
    answers.await.into_iter().filter(|got| *got == status).count()
}

/// Adds daily roll-ups of this age to the monitors named `m`.
async fn age(app: &App, days: &[u32]) {
    for days in days {
        let at = app.engine.now().before(DAY * *days).0;
        // The content of the roll-up does not matter.
        let insert = format!(
            "insert into rollups (monitor_id, grain, at, data)
            select id, 2, {at}, push_digest from monitors where name = 'm'"
        );
        app.database.execute(&insert).await;
    }
}

/// The number of days left after expired history was deleted, twice.
async fn days_left(app: &App) -> i64 {
    for _ in 0..2 {
        compactor::delete_expired(&app.engine, &CancellationToken::new()).await.unwrap();
    }
    app.database.number("select count(*) from rollups where grain = 2").await
}

both_databases! {
    async fn a_new_team_has_the_plan_none(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        assert_eq!(plan_and_state(&ann).await, "none none");
        let plans = ann.get("membership/plans").await.ok()["plans"].clone();
        let names: Vec<&str> =
            plans.as_array().unwrap().iter().map(|plan| plan["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["None", "Starter", "Pro", "Business", "Enterprise"]);
        assert_eq!(plans[2]["price"], 2900);
        assert_eq!(plans[4]["price"], Value::Null);
        assert!(invoices(&ann).await.is_empty());
        ann.post_nothing("membership/stop").await.refused(409, "no_plan");
        app.stop().await;
    }

    async fn a_plan_can_be_chosen_in_every_documented_way(setup: Setup) {
        let app = setup.start().await;
        for (number, path) in ["membership/save", "/api/membership/save"].iter().enumerate() {
            let ann = app.sign_up(&format!("ann{number}@example.com")).await.client;
            let new = ann.post(path, &plan_with("Starter", "4242424242424242")).await.ok();
            let token = new["membershipToken"].as_str().unwrap().to_owned();
            assert!(new["message"].as_str().unwrap().contains("Starter"));
            let id = methods(&ann).await[0]["methodid"].clone();
            let body = json!({"plan": "PRO", "method": "methodID", "methodID": id});
            let named = ann.post(path, &body).await.ok();
            assert_eq!(named["membershipToken"], token.as_str());
            ann.post(path, &json!({"plan": "business", "method": id})).await.ok();
            assert_eq!(plan_and_state(&ann).await, "business active");
            let held = membership(&ann).await;
            assert_eq!((&held["membershipToken"], &held["methodid"]), (&json!(token), &id));
        }
        let bob = app.sign_up("bob@example.com").await.client;
        let body = json!({"plan": "pro", "method": "new", "token": "pm_card_visa"});
        bob.post("membership/save", &body).await.ok();
        assert_eq!(invoices(&bob).await, ["pro 2900 paid"]);
        app.stop().await;
    }

    async fn a_preview_names_the_amount_that_is_then_charged(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let preview = async |client: &Client, plan: &str| {
            client.post("membership/preview", &json!({"plan": plan})).await.ok()
        };
        let first = preview(&ann.client, "Starter").await;
        let amounts = |quote: &Value| -> [i64; 4] {
            ["amount", "credit", "charge", "credit_left"].map(|key| quote[key].as_i64().unwrap())
        };
        assert_eq!((amounts(&first), &first["currency"]), ([900, 0, 900, 0], &json!("USD")));
        assert!(invoices(&ann.client).await.is_empty(), "nothing is charged");
        ann.client.post("membership/save", &plan_with("starter", "4242424242424242")).await.ok();
        assert_eq!(membership(&ann.client).await["period_until"], first["renews"]);
        let method = methods(&ann.client).await[0]["methodid"].clone();
        let client = after(&app, &ann, 10).await;
        let up = preview(&client, "pro").await;
        let [amount, credit, charge, left] = amounts(&up);
        assert_eq!((amount, charge, left), (2_900, 2_900 - credit, 0));
        assert!((500..700).contains(&credit), "two thirds of the old period are unused: {up}");
        client.post("membership/save", &json!({"plan": "pro", "method": method})).await.ok();
        let paid = client.get("membership/invoices").await.ok()["invoices"][0].clone();
        assert_eq!((&paid["amount"], &paid["credit"]), (&up["charge"], &up["credit"]));
        // A smaller plan is paid with credit, and the rest of the credit remains.
        let [amount, credit, charge, left] = amounts(&preview(&client, "starter").await);
        assert_eq!((amount, credit, charge), (900, 900, 0));
        assert!(left > 1_900, "{left}");
        let same = preview(&client, "pro").await;
        assert_eq!(amounts(&same)[..3], [0, 0, 0], "the current period continues");
        assert_eq!(same["renews"], membership(&client).await["period_until"]);
        assert_eq!(plan_and_state(&client).await, "pro active");
        for (plan, field) in [("platinum", "plan"), ("none", "plan"), ("", "plan")] {
            let answer = client.post("membership/preview", &json!({"plan": plan})).await;
            assert_eq!(answer.wrong_fields(), [field]);
        }
        client.post("membership/preview", &json!({"plan": "enterprise"})).await
            .refused(403, "administrator_needed");
        app.stop().await;
    }

    async fn the_usage_of_the_plan_is_shown_with_its_limits(setup: Setup) {
        let app = narrow(setup, 2, 3).await;
        let ann = app.sign_up("ann@example.com").await.client;
        let eve = app.sign_up("eve@example.com").await.client;
        let usage = async |client: &Client| client.get("membership/get").await.ok()["usage"].clone();
        let none = json!({"monitors": 0, "limit": 2, "users": 1, "user_limit": 3, "too_frequent": 0,
            "enforced": true});
        assert_eq!(usage(&ann).await, none);
        ann.post("monitor/save", &listening(true)).await.ok();
        ann.post("monitor/save", &listening(false)).await.ok();
        assert_eq!(usage(&ann).await["monitors"], 1, "paused monitors do not count");
        ann.post("membership/save", &plan_with("business", "4242424242424242")).await.ok();
        assert_eq!(usage(&ann).await["limit"], 10_000);
        assert_eq!(usage(&eve).await, none, "another team's monitors do not count");
        app.stop().await;
    }

    async fn a_wrong_choice_is_explained(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        let wrong = async |body: Value| ann.post("membership/save", &body).await.wrong_fields();
        assert_eq!(wrong(json!({})).await, ["plan", "method"]);
        assert_eq!(wrong(json!({"plan": "pro", "method": "methodID"})).await, ["methodID"]);
        assert_eq!(wrong(json!({"plan": "pro", "method": "card"})).await, ["method"]);
        assert_eq!(wrong(plan_with("platinum", "4242424242424242")).await, ["plan"]);
        assert_eq!(wrong(plan_with("none", "4242424242424242")).await, ["plan"]);
        assert_eq!(wrong(plan_with("pro", "4242424242424241")).await, ["cardNumber"]);
        assert_eq!(wrong(plan_with("platinum", "4242424242424241")).await, ["plan", "cardNumber"]);
        assert_eq!(wrong(plan_with("none", "4242424242424241")).await, ["plan", "cardNumber"]);
        assert_eq!(wrong(json!({"plan": "platinum"})).await, ["plan", "method"]);
        ann.post("membership/save", &json!({"plan": "pro", "method": "methodID", "methodID": "x"}))
            .await.refused(404, "not_found");
        ann.post("membership/save", &plan_with("enterprise", "4242424242424242")).await
            .refused(403, "administrator_needed");
        assert!(methods(&ann).await.is_empty());
        assert_eq!(plan_and_state(&ann).await, "none none");
        app.stop().await;
    }

    async fn a_declined_card_changes_nothing(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        for number in ["4000000000000002", "4000000000000341"] {
            ann.post("membership/save", &plan_with("pro", number)).await
                .refused(402, "card_declined");
            assert_eq!(plan_and_state(&ann).await, "none none");
            assert!(methods(&ann).await.is_empty());
            assert!(invoices(&ann).await.is_empty());
        }
        ann.post("membership/save", &plan_with("starter", "4242424242424242")).await.ok();
        let fails = saved(&ann, "4000000000000341").await;
        ann.post("membership/save", &json!({"plan": "pro", "method": fails})).await
            .refused(402, "card_declined");
        assert_eq!(plan_and_state(&ann).await, "starter active");
        assert_eq!(invoices(&ann).await, ["starter 900 paid"]);
        app.stop().await;
    }

    async fn saving_the_current_plan_changes_only_the_payment_method(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await.client;
        ann.post("membership/save", &plan_with("pro", "4242424242424242")).await.ok();
        let other = saved(&ann, "5555555555554444").await;
        ann.post("membership/save", &json!({"plan": "pro", "method": other})).await.ok();
        assert_eq!(membership(&ann).await["methodid"], other.as_str());
        assert_eq!(invoices(&ann).await, ["pro 2900 paid"]);
        app.stop().await;
    }

    async fn a_canceled_plan_remains_active_until_the_paid_period_ends(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("membership/save", &plan_with("pro", "4242424242424242")).await.ok();
        ann.client.post_nothing("membership/stop").await.ok();
        assert_eq!(plan_and_state(&ann.client).await, "pro cancelled");
        let client = after(&app, &ann, 29).await;
        assert_eq!(plan_and_state(&client).await, "pro cancelled");
        let client = after(&app, &ann, 2).await;
        assert_eq!(plan_and_state(&client).await, "none none");
        assert_eq!(invoices(&client).await, ["pro 2900 paid"]);
        client.post_nothing("membership/stop").await.refused(409, "no_plan");
        let mails = app.mails("ann@example.com", 3).await;
        assert_eq!(count(&mails, "Receipt for Wakeful Pro"), 1);
        assert_eq!(count(&mails, "Your Wakeful plan Pro has ended"), 1);
        app.stop().await;
    }

    async fn each_month_is_charged_once(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("membership/save", &plan_with("starter", "4242424242424242")).await.ok();
        let mut client = ann.client.clone();
        for _ in 0..12 {
            client = after(&app, &ann, 31).await;
            billing::run_due(&app.engine).await.unwrap();
        }
        // 15 November to 22 November of the next year: 13 periods have begun.
        assert_eq!(invoices(&client).await, vec!["starter 900 paid"; 13]);
        let list = client.get("membership/invoices").await.ok()["invoices"].clone();
        let list = list.as_array().unwrap();
        for pair in list.windows(2) {
            assert_eq!(pair[0]["period_from"], pair[1]["period_until"]);
            assert_ne!(pair[0]["number"], pair[1]["number"]);
        }
        app.stop().await;
    }

    async fn a_plan_whose_payment_method_was_deleted_ends_when_payment_is_due(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("membership/save", &plan_with("pro", "4242424242424242")).await.ok();
        saved(&ann.client, "5555555555554444").await;
        let id = membership(&ann.client).await["methodid"].clone();
        ann.client.post("paymentmethod/delete", &json!({"methodid": id})).await.ok();
        assert_eq!(plan_and_state(&ann.client).await, "pro active");
        let client = after(&app, &ann, 31).await;
        assert_eq!(plan_and_state(&client).await, "none none");
        assert_eq!(invoices(&client).await, ["pro 2900 paid"]);
        app.stop().await;
    }

    async fn a_declined_renewal_is_retried_before_the_plan_ends(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("membership/save", &plan_with("pro", "4242424242424242")).await.ok();
        let fails = saved(&ann.client, "4000000000000341").await;
        ann.client.post("membership/save", &json!({"plan": "pro", "method": fails})).await.ok();
        let mut client = after(&app, &ann, 30).await;
        for _ in 0..4 {
            assert_eq!(plan_and_state(&client).await, "pro past_due");
            assert_eq!(invoices(&client).await, ["pro 2900 paid", "pro 2900 open"]);
            client = after(&app, &ann, 1).await;
        }
        client = after(&app, &ann, 1).await;
        assert_eq!(plan_and_state(&client).await, "none none");
        assert_eq!(invoices(&client).await, ["pro 2900 paid", "pro 2900 void"]);
        let mails = app.mails("ann@example.com", 6).await;
        assert_eq!(count(&mails, "Payment for Wakeful Pro failed"), 3);
        assert_eq!(count(&mails, "its payment was declined repeatedly"), 1);
        assert_eq!(count(&mails, "Nothing is deleted"), 1, "limits are off");
        app.stop().await;
    }

    async fn choosing_a_past_due_plan_again_pays_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("membership/save", &plan_with("pro", "4242424242424242")).await.ok();
        let fails = saved(&ann.client, "4000000000000341").await;
        ann.client.post("membership/save", &json!({"plan": "pro", "method": fails})).await.ok();
        let client = after(&app, &ann, 30).await;
        client.post("membership/save", &plan_with("pro", "4000000000000341")).await
            .refused(402, "card_declined");
        assert_eq!(plan_and_state(&client).await, "pro past_due");
        client.post("membership/save", &plan_with("pro", "4242424242424242")).await.ok();
        assert_eq!(plan_and_state(&client).await, "pro active");
        assert_eq!(invoices(&client).await, ["pro 2900 paid", "pro 2900 paid"]);
        app.stop().await;
    }

    async fn a_change_of_plan_credits_the_unused_time_of_the_old_one(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("membership/save", &plan_with("pro", "4242424242424242")).await.ok();
        app.clock.advance(DAY * 10);
        // 20 of the 30 days to 15 December are left of 29.00 USD: 19.33.
        let id = methods(&ann.client).await[0]["methodid"].clone();
        ann.client.post("membership/save", &json!({"plan": "business", "method": id})).await.ok();
        assert_eq!(invoices(&ann.client).await, ["pro 2900 paid", "business 7967 paid"]);
        let list = ann.client.get("membership/invoices").await.ok()["invoices"].clone();
        assert!(list[0]["note"].as_str().unwrap().contains("19.33 USD"), "{}", list[0]);
        ann.client.post("membership/save", &json!({"plan": "starter", "method": id})).await.ok();
        assert_eq!(invoices(&ann.client).await[2], "starter 0 paid");
        assert_eq!(membership(&ann.client).await["credit"], 9000);
        app.stop().await;
    }

    async fn a_member_cannot_cancel_a_plan_set_by_the_operator(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.engine.grant_plan(&ann.team, "Enterprise").await.unwrap();
        assert_eq!(plan_and_state(&ann.client).await, "enterprise active");
        ann.client.post_nothing("membership/stop").await.refused(403, "administrator_needed");
        ann.client.post("membership/save", &plan_with("pro", "4242424242424242")).await
            .refused(403, "administrator_needed");
        let client = after(&app, &ann, 400).await;
        assert_eq!(plan_and_state(&client).await, "enterprise active");
        app.engine.grant_plan("ANN@example.com", "none").await.unwrap();
        assert_eq!(plan_and_state(&client).await, "none none");
        let stranger = "019a8f3e-0000-7000-8000-000000000000";
        assert!(app.engine.grant_plan(stranger, "pro").await.is_err());
        app.stop().await;
    }

    async fn an_error_about_a_limit_names_the_plan_and_the_next_one(setup: Setup) {
        let app = limited(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let monitor = |interval: u32, active: bool| json!({"name": "m", "type": "api",
            "heartbeat_interval": interval, "isactive": active, "upside_down_mode": false});
        let often = ann.client.post("monitor/save", &monitor(30, true)).await;
        let message = often.refused(403, "plan_limit")["message"].as_str().unwrap().to_owned();
        assert_eq!(message, "The None plan allows intervals of 60 s or more; upgrade to Starter.");
        for _ in 0..50 {
            ann.client.post("monitor/save", &monitor(60, true)).await.ok();
        }
        let many = ann.client.post("monitor/save", &monitor(60, true)).await;
        let message = many.refused(403, "plan_limit")["message"].as_str().unwrap().to_owned();
        assert_eq!(message, "The None plan allows 50 active monitors; upgrade to Starter.");
        ann.client.post("monitor/save", &monitor(60, false)).await.ok();
        for number in 0..2 {
            ann.colleague(&app.anonymous(), &format!("c{number}@example.com")).await;
        }
        let body = json!({"email": "d@example.com", "password1": "correct horse 9",
            "password2": "correct horse 9"});
        ann.client.post("team/save", &body).await.refused(403, "plan_limit");
        ann.client.post("membership/save", &plan_with("pro", "4242424242424242")).await.ok();
        ann.client.post("team/save", &body).await.ok();
        ann.client.post("monitor/save", &monitor(10, true)).await.ok();
        app.stop().await;
    }

    async fn monitors_beyond_a_smaller_plan_keep_running_for_14_days(setup: Setup) {
        let app = limited(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        app.engine.grant_plan(&ann.team, "pro").await.unwrap();
        for number in 0..52 {
            let body = json!({"name": format!("m{number}"), "type": "api", "isactive": true,
                "heartbeat_interval": if number == 0 { 10 } else { 60 }, "upside_down_mode": false});
            ann.client.post("monitor/save", &body).await.ok();
            app.clock.advance(Duration::from_millis(1));
        }
        app.engine.grant_plan(&ann.team, "none").await.unwrap();
        let active = async |client: &Client| {
            let list = client.get("monitors").await.ok()["monitors"].clone();
            let list = list.as_array().unwrap().clone();
            list.iter().filter(|one| one["isactive"] == true).count()
        };
        billing::enforce_all_limits(&app.engine).await.unwrap();
        assert_eq!(count(&app.mails("ann@example.com", 3).await, "52 active monitors of 50"), 1);
        app.clock.advance(DAY * 13);
        billing::enforce_all_limits(&app.engine).await.unwrap();
        assert_eq!(active(&ann.client).await, 52);
        app.clock.advance(DAY);
        billing::enforce_all_limits(&app.engine).await.unwrap();
        // Deactivated: the one with too short an interval, and the newest of the rest.
        assert_eq!(active(&ann.client).await, 50);
        let list = ann.client.get("monitors").await.ok()["monitors"].clone();
        assert_eq!(list[0]["isactive"], false);
        assert_eq!(list[51]["isactive"], false);
        assert_eq!(count(&app.mails("ann@example.com", 4).await, "Subject: 2 monitors were deactivated"), 1);
        app.stop().await;
    }

    async fn limits_apply_to_a_team_that_never_had_a_plan(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for number in 0..52 {
            let body = json!({"name": format!("m{number}"), "type": "api", "isactive": true,
                "heartbeat_interval": 60, "upside_down_mode": false});
            ann.client.post("monitor/save", &body).await.ok();
            app.clock.advance(Duration::from_millis(1));
        }
        let bob = app.sign_up("bob@example.com").await;
        let body = json!({"name": "one", "type": "api", "isactive": true,
            "heartbeat_interval": 60, "upside_down_mode": false});
        bob.client.post("monitor/save", &body).await.ok();
        assert_eq!(app.engine.history_days(team(&ann)).await.unwrap(), None);
        // The operator turns limits on.
        let app = app.restart_with(|setup| setup.settings.billing.limits = true).await;
        let client = app.anonymous().with_token(&ann.token);
        let active = async || {
            let list = client.get("monitors").await.ok()["monitors"].clone();
            let list = list.as_array().unwrap().clone();
            list.iter().filter(|one| one["isactive"] == true).count()
        };
        billing::enforce_all_limits(&app.engine).await.unwrap();
        billing::enforce_all_limits(&app.engine).await.unwrap();
        let mails = app.mails("ann@example.com", 2).await;
        assert_eq!(count(&mails, "52 active monitors of 50"), 1, "notified once");
        app.clock.advance(DAY * 13);
        billing::enforce_all_limits(&app.engine).await.unwrap();
        assert_eq!(active().await, 52);
        app.clock.advance(DAY);
        billing::enforce_all_limits(&app.engine).await.unwrap();
        assert_eq!(active().await, 50);
        let list = client.get("monitors").await.ok()["monitors"].clone();
        assert_eq!((&list[50]["isactive"], &list[51]["isactive"]), (&json!(false), &json!(false)));
        app.mails("ann@example.com", 3).await;
        assert_eq!(app.mails_now("bob@example.com").len(), 1, "only the welcome mail");
        app.stop().await;
    }

    async fn a_plan_states_how_long_history_is_retained(setup: Setup) {
        let app = limited(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        assert_eq!(app.engine.history_days(team(&ann)).await.unwrap(), Some(30));
        for (plan, days) in [("starter", 180), ("pro", 365), ("business", 730), ("enterprise", 1_825)] {
            app.engine.grant_plan(&ann.team, plan).await.unwrap();
            assert_eq!(app.engine.history_days(team(&ann)).await.unwrap(), Some(days), "{plan}");
        }
        app.stop().await;
    }

    async fn a_smaller_plan_retains_history_for_14_days_and_notifies(setup: Setup) {
        let app = limited(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        app.engine.grant_plan(&ann.team, "pro").await.unwrap();
        ann.client.post("monitor/save", &listening(true)).await.ok();
        age(&app, &[20, 40, 290, 400]).await;
        assert_eq!(days_left(&app).await, 4, "limits were just applied");
        app.clock.advance(DAY * 14);
        assert_eq!(days_left(&app).await, 3, "a year");
        app.engine.grant_plan(&ann.team, "none").await.unwrap();
        assert_eq!(days_left(&app).await, 3);
        let mails = app.mails("ann@example.com", 4).await;
        assert_eq!(count(&mails, "History older than 365 days"), 1);
        assert_eq!(count(&mails, "Subject: History older than 30 days will be deleted"), 1);
        assert_eq!(count(&mails, "All of it is retained until 2026-12-13"), 1);
        assert_eq!(count(&mails, "Everything stays as it is until 2026-12-13"), 1);
        app.clock.advance(DAY * 13);
        assert_eq!(days_left(&app).await, 3);
        // A larger plan retains the history, and the next downgrade notifies again.
        app.engine.grant_plan(&ann.team, "starter").await.unwrap();
        app.clock.advance(DAY);
        assert_eq!(days_left(&app).await, 2, "half a year");
        app.engine.grant_plan(&ann.team, "none").await.unwrap();
        app.clock.advance(DAY * 14);
        assert_eq!(days_left(&app).await, 2, "the 14 days begin with the notification");
        app.clock.advance(DAY * 14);
        assert_eq!(days_left(&app).await, 0);
        let mails = app.mails("ann@example.com", 6).await;
        assert_eq!(count(&mails, "Subject: History older than 30 days"), 2);
        app.stop().await;
    }

    async fn newly_enforced_limits_retain_history_for_14_days(setup: Setup) {
        let mut app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        ann.client.post("monitor/save", &listening(true)).await.ok();
        let bob = app.sign_up("bob@example.com").await;
        let mut young = listening(true);
        young["name"] = json!("young");
        bob.client.post("monitor/save", &young).await.ok();
        for round in 1..=2 {
            age(&app, &[20, 40, 290]).await;
            assert_eq!(days_left(&app).await, 3);
            app = app.restart_with(|setup| setup.settings.billing.limits = true).await;
            assert_eq!(days_left(&app).await, 3);
            let mails = app.mails("ann@example.com", 1 + round).await;
            assert_eq!(count(&mails, "History older than 30 days will be deleted"), round);
            app.clock.advance(DAY * 13);
            assert_eq!(days_left(&app).await, 3);
            app.clock.advance(DAY);
            assert_eq!(days_left(&app).await, 0, "34 days are too many as well");
            // Without limits history grows, and limits that return count as new.
            app = app.restart_with(|setup| setup.settings.billing.limits = false).await;
            assert_eq!(days_left(&app).await, 0);
        }
        assert_eq!(app.mails_now("bob@example.com").len(), 1, "only the welcome mail");
        app.stop().await;
    }

    async fn concurrent_saves_of_monitors_do_not_exceed_the_plan(setup: Setup) {
        let app = narrow(setup, 5, 3).await;
        let ann = app.sign_up("ann@example.com").await.client;
        let active = "select count(*) from monitors where isactive";
        let calls = (0..24).map(|_| (ann.clone(), "monitor/save", listening(true))).collect();
        assert_eq!(at_once(calls, 200).await, 5);
        assert_eq!(app.database.number(active).await, 5);
        // Concurrent activations do not exceed the limit either.
        let mut calls = Vec::new();
        for _ in 0..12 {
            let saved = ann.post("monitor/save", &listening(false)).await.ok();
            let body = json!({"monitorid": saved["monitor"]["monitorid"], "isactive": true});
            calls.push((ann.clone(), "monitor/save", body));
        }
        let list = ann.get("monitors").await.ok()["monitors"].clone();
        let running: Vec<&Value> =
            list.as_array().unwrap().iter().filter(|one| one["isactive"] == true).collect();
        for one in &running[..2] {
            let body = json!({"monitorid": one["monitorid"], "isactive": false});
            ann.post("monitor/save", &body).await.ok();
        }
        assert_eq!(at_once(calls, 200).await, 2);
        assert_eq!(app.database.number(active).await, 5);
        // A team at its limit can still change its monitors.
        let body = json!({"monitorid": running[2]["monitorid"], "isactive": true, "name": "other"});
        ann.post("monitor/save", &body).await.ok();
        app.stop().await;
    }

    async fn concurrently_added_users_do_not_exceed_the_plan(setup: Setup) {
        let app = narrow(setup, 5, 3).await;
        let ann = app.sign_up("ann@example.com").await.client;
        let calls = (0..8).map(|number| (ann.clone(), "team/save", json!({
            "email": format!("c{number}@example.com"), "password1": PASSWORD,
            "password2": PASSWORD}))).collect();
        assert_eq!(at_once(calls, 200).await, 2);
        assert_eq!(app.database.rows("users").await, 3);
        app.stop().await;
    }

    async fn members_choose_from_the_operators_plans(setup: Setup) {
        let mut setup = setup;
        let limits = billing::Limits { monitors: Some(2), shortest_interval: 1, users: None,
            history_days: 9, status_pages: None, subscribers: None };
        let plan = |id: &str, price| billing::Plan { id: PlanId::new(id), name: id.to_owned(),
            price, limits };
        let team = plan("team", billing::Price::Monthly(Money::cents(1_950)));
        let plans = vec![plan("none", billing::Price::Free), team];
        setup.settings.billing.catalog = billing::Catalog::new(plans).unwrap();
        let app = limited(setup).await;
        let ann = app.sign_up("ann@example.com").await;
        let listed = ann.client.get("membership/plans").await.ok();
        assert_eq!(listed["plans"].as_array().unwrap().len(), 2);
        ann.client.post("membership/save", &plan_with("pro", "4242424242424242")).await.wrong_fields();
        ann.client.post("membership/save", &plan_with("Team", "4242424242424242")).await.ok();
        assert_eq!(invoices(&ann.client).await, ["team 1950 paid"]);
        app.stop().await;
    }
}
