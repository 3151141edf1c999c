//! Telling people by mail: what an inbox gets, how much of it, and what becomes
//! of a letter that the server refuses or puts off.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_core::time::Millis;
use wakeful_testkit::{Client, Inbox, Line, User, both_engines, until};

use crate::deliver::{HOUR, all_are, deliveries, is_on, job, report, tried};

pub(crate) async fn mail(user: &User, inbox: &Inbox) -> Value {
    mail_to(user, inbox, "oncall@example.com").await
}

async fn mail_to(user: &User, inbox: &Inbox, to: &str) -> Value {
    let body = json!({"name": "mail", "type": "email", "email": {"hostname": "127.0.0.1",
        "port": inbox.port, "security": "none", "from_email": "Wakeful <wakeful@example.com>",
        "to_email": to}});
    user.client.post("notifier/save", &body).await.json()
}

both_engines! {
    async fn a_mail_refused_last_week_costs_no_mail_today(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        inbox.refuses(Some("550 5.7.1 not today"));
        let made = mail(&ann, &inbox).await;
        let (one, two) = (job(&ann.client, "one", &made).await, job(&ann.client, "two", &made).await);
        report(&ann.client, &one, "down").await;
        all_are(&ann.client, &made, "failed").await;
        app.clock.advance(144 * HOUR);
        inbox.refuses(Some("451 4.7.1 later"));
        report(&ann.client, &two, "down").await;
        let waits = until("the first failure", || async {
            let all = deliveries(&ann.client, &made).await;
            all.into_iter().find(|one| one["last_answer"].as_str().unwrap().contains("later"))
        }).await;
        assert_eq!((&waits["state"], &waits["attempts"]), (&json!("waiting"), &json!(1)));
        inbox.refuses(None);
        app.clock.advance(Duration::from_secs(60));
        inbox.taken(1).await;
        assert!(is_on(&ann.client).await);
    }

    async fn an_outage_that_ended_before_the_mail_could_go_is_one_mail(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        let made = mail(&ann, &inbox).await;
        for number in 1..=6 {
            let site = job(&ann.client, &format!("site {number}"), &made).await;
            report(&ann.client, &site, "down").await;
            all_are(&ann.client, &made, "delivered").await;
        }
        // The inbox has had enough for this minute, and the clock stands still.
        let (one, two) = (job(&ann.client, "one", &made).await, job(&ann.client, "two", &made).await);
        report(&ann.client, &one, "down").await;
        report(&ann.client, &two, "down").await;
        app.clock.advance(Duration::from_secs(2));
        report(&ann.client, &one, "up").await;
        app.clock.advance(Duration::from_secs(59));
        all_are(&ann.client, &made, "delivered").await;
        let subjects: Vec<String> =
            inbox.letters()[6..].iter().map(|letter| letter.header("subject")).collect();
        assert_eq!(subjects.len(), 2, "{subjects:?}");
        for subject in ["[Up] one was down for 2 s", "[Down] two: reported down"] {
            assert!(subjects.iter().any(|one| one == subject), "{subjects:?}");
        }
    }

    async fn an_inbox_gets_letters_that_belong_together(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        let made = mail(&ann, &inbox).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        all_are(&ann.client, &made, "delivered").await;
        app.clock.advance(Duration::from_secs(250));
        report(&ann.client, &site, "up").await;
        let letters = inbox.taken(2).await;
        let (down, up) = (&letters[0], &letters[1]);
        assert_eq!(down.header("subject"), "[Down] site: reported down");
        assert_eq!(up.header("subject"), "[Up] site is up again after 4 min 10 s");
        assert_eq!(up.header("in-reply-to"), down.header("message-id"));
        assert_eq!(up.header("references"), down.header("message-id"));
        assert!(down.text.contains(&format!("/monitor/{site}")), "{}", down.text);
        assert!(down.header("content-type").starts_with("multipart/alternative"));
    }

    async fn an_inbox_is_not_flooded_and_nothing_is_left_out(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        let made = mail(&ann, &inbox).await;
        let mut jobs = Vec::new();
        for number in 0..30 {
            jobs.push(job(&ann.client, &format!("job-{number:02}"), &made).await);
        }
        for job in &jobs {
            report(&ann.client, job, "down").await;
        }
        // The clock stands still: what has not come by then waits for the next minute.
        until("the letters of this minute", || async {
            let all = inbox.letters().len() == 6 || all_told(&ann.client, &made).await == 30;
            all.then_some(())
        }).await;
        app.clock.advance(Duration::from_secs(61));
        all_are(&ann.client, &made, "delivered").await;
        let letters = inbox.letters();
        assert!(letters.len() <= 12, "six a minute: {}", letters.len());
        for number in 0..30 {
            let name = format!("job-{number:02}");
            let told = letters.iter().filter(|letter| letter.text.contains(&name)).count();
            assert_eq!(told, 1, "{name}");
        }
    }

    async fn a_server_that_says_later_is_asked_later_and_one_that_refuses_is_not(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        inbox.refuses(Some("451 4.7.1 greylisted, try again"));
        let made = mail(&ann, &inbox).await;
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        let all = tried(&app, &ann.client, &made, 1).await;
        assert_eq!(all[0]["state"], "waiting");
        assert!(all[0]["last_answer"].as_str().unwrap().contains("greylisted"), "{}", all[0]);
        inbox.refuses(None);
        app.clock.advance(Duration::from_secs(60));
        all_are(&ann.client, &made, "delivered").await;
        inbox.refuses(Some("550 5.1.1 no such user"));
        report(&ann.client, &site, "up").await;
        until("the refusal", || async {
            let all = deliveries(&ann.client, &made).await;
            (all[0]["state"] == "failed").then_some(())
        }).await;
        assert_eq!(inbox.letters().len(), 1);
    }

    async fn who_was_put_off_is_told_later_and_nobody_waits_for_it(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        let made = mail_to(&ann, &inbox, "ann@example.com, bob@example.com, gone@example.com").await;
        inbox.says("RCPT TO:<bob@example.com>", "450 4.2.0 greylisted");
        inbox.says("RCPT TO:<gone@example.com>", "550 5.1.1 no such user");
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        let waits = tried(&app, &ann.client, &made, 1).await;
        assert_eq!(waits[0]["state"], "waiting");
        for part in ["250 2.0.0", "bob@example.com: ", "greylisted", "gone@example.com: "] {
            assert!(waits[0]["last_answer"].as_str().unwrap().contains(part), "{part}: {}", waits[0]);
        }
        // The others hear of the end at once, each of both events by itself.
        inbox.says_no_more("RCPT TO:<bob@example.com>");
        report(&ann.client, &site, "up").await;
        let letters = inbox.taken(2).await;
        assert_eq!(letters[0].to, ["ann@example.com"]);
        assert!(letters[1].header("subject").starts_with("[Up]"), "{}", letters[1].text);
        assert_eq!(letters[1].to, ["ann@example.com", "bob@example.com"]);
        app.clock.advance(Duration::from_secs(10));
        all_are(&ann.client, &made, "delivered").await;
        let letters = inbox.letters();
        assert_eq!(letters.len(), 3);
        assert!(letters[2].header("subject").starts_with("[Down]"), "{}", letters[2].text);
        assert_eq!(letters[2].header("message-id"), letters[0].header("message-id"));
        assert_eq!(letters[2].header("to"), letters[0].header("to"));
        assert_eq!(letters[2].to, ["bob@example.com"]);
        // Two of the first, three of the second, one of the last: nobody's minute is
        // filled by what went to others.
        until("six to be counted", || async {
            (app.database.rows("sent_mails").await == 6).then_some(())
        }).await;
    }

    async fn of_a_storm_everybody_hears_once_though_some_are_put_off(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        let made = mail_to(&ann, &inbox, "ann@example.com, bob@example.com").await;
        inbox.says("RCPT TO:<bob@example.com>", "450 4.2.0 greylisted");
        let mut jobs = Vec::new();
        for number in 0..12 {
            jobs.push(job(&ann.client, &format!("job-{number:02}"), &made).await);
        }
        for job in &jobs[..10] {
            report(&ann.client, job, "down").await;
        }
        let told = |name: &str, whom: &str| {
            let letters = inbox.letters();
            letters.iter().filter(|one| one.to == [whom] && one.text.contains(name)).count()
        };
        for _ in 0..2 {
            until("the letters of this minute", || async {
                let full = (0..10).filter(|n| told(&format!("job-{n:02}"), "ann@example.com") > 0).count();
                (full >= 6).then_some(())
            }).await;
            app.clock.advance(Duration::from_secs(61));
        }
        until("ann to know all", || async {
            (0..10).all(|n| told(&format!("job-{n:02}"), "ann@example.com") == 1).then_some(())
        }).await;
        inbox.says_no_more("RCPT TO:<bob@example.com>");
        // Something new for everybody, beside what waits for one of them.
        for job in &jobs[10..] {
            report(&ann.client, job, "down").await;
        }
        until("all to be delivered", || async {
            app.clock.advance(Duration::from_secs(61));
            let all = deliveries(&ann.client, &made).await;
            all.iter().all(|one| one["state"] == "delivered").then_some(())
        }).await;
        for number in 0..10 {
            let name = format!("job-{number:02}");
            assert_eq!((told(&name, "ann@example.com"), told(&name, "bob@example.com")), (1, 1), "{name}");
        }
        let both = inbox.letters().iter().filter(|one| one.to.len() == 2).count();
        assert!((1..=2).contains(&both), "{both}");
    }

    async fn a_mail_that_reached_some_has_arrived_when_the_others_are_given_up(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let inbox = Inbox::start(Line::Plain).await;
        let made = mail_to(&ann, &inbox, "ann@example.com, bob@example.com").await;
        inbox.says("RCPT TO:<bob@example.com>", "452 4.2.2 mailbox full");
        let site = job(&ann.client, "site", &made).await;
        report(&ann.client, &site, "down").await;
        for attempt in 1..=9 {
            let waits = tried(&app, &ann.client, &made, attempt).await;
            assert_eq!(waits[0]["state"], "waiting");
            let next = Millis::parse(waits[0]["next_try"].as_str().unwrap()).unwrap();
            app.clock.advance(next.since(app.engine.now()));
        }
        let done = all_are(&ann.client, &made, "delivered").await;
        assert_eq!(done[0]["attempts"], 10);
        let answer = done[0]["last_answer"].as_str().unwrap();
        assert!(answer.contains("bob@example.com: ") && answer.contains("mailbox full"), "{answer}");
        assert_eq!(inbox.letters().len(), 1);
    }
}

async fn all_told(client: &Client, notifier: &Value) -> usize {
    let all = deliveries(client, notifier).await;
    all.iter().filter(|one| one["state"] == "delivered").count()
}
