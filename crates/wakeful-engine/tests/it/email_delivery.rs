//! Tests of notifications by email: the mails of a recipient, their rate limit, and mails
//! that the server rejects or defers.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::{both_databases, until};

use crate::delivery_fixture::{DeliveryFixture, HOUR};

both_databases! {
    async fn a_mail_refused_last_week_does_not_suppress_one_today(setup: Setup) {
        let fixture = DeliveryFixture::email(setup).await;
        fixture.receiver.refuse_with(Some("550 5.7.1 not today"));
        let (one, two) = (fixture.monitor("one").await, fixture.monitor("two").await);
        fixture.report(&one, "down").await;
        fixture.all_are("failed").await;
        fixture.advance(144 * HOUR);
        fixture.receiver.refuse_with(Some("451 4.7.1 later"));
        fixture.report(&two, "down").await;
        let waits = until("the first failure", || async {
            let all = fixture.deliveries().await;
            all.into_iter().find(|one| one["last_answer"].as_str().unwrap().contains("later"))
        }).await;
        assert_eq!((&waits["state"], &waits["attempts"]), (&json!("waiting"), &json!(1)));
        fixture.receiver.refuse_with(None);
        fixture.advance(Duration::from_secs(60));
        fixture.receiver.wait_for_mails(1).await;
        assert!(fixture.notifier_is_on().await);
    }

    async fn an_outage_that_ended_before_the_mail_was_sent_is_one_mail(setup: Setup) {
        let fixture = DeliveryFixture::email(setup).await;
        for number in 1..=6 {
            let site = fixture.monitor(&format!("site {number}")).await;
            fixture.report(&site, "down").await;
            fixture.all_are("delivered").await;
        }
        // The recipient has reached the limit of this minute, and the clock stands still.
        let (one, two) = (fixture.monitor("one").await, fixture.monitor("two").await);
        fixture.report(&one, "down").await;
        fixture.report(&two, "down").await;
        fixture.advance(Duration::from_secs(2));
        fixture.report(&one, "up").await;
        fixture.advance(Duration::from_secs(59));
        fixture.all_are("delivered").await;
        let subjects: Vec<String> =
            fixture.receiver.mails()[6..].iter().map(|mail| mail.header("subject")).collect();
        assert_eq!(subjects.len(), 2, "{subjects:?}");
        for subject in ["[Up] one was down for 2 s", "[Down] two: reported down"] {
            assert!(subjects.iter().any(|one| one == subject), "{subjects:?}");
        }
    }

    async fn an_inbox_gets_mails_in_one_thread(setup: Setup) {
        let fixture = DeliveryFixture::email(setup).await;
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        fixture.all_are("delivered").await;
        fixture.advance(Duration::from_secs(250));
        fixture.report(&site, "up").await;
        let mails = fixture.receiver.wait_for_mails(2).await;
        let (down, up) = (&mails[0], &mails[1]);
        assert_eq!(down.header("subject"), "[Down] site: reported down");
        assert_eq!(up.header("subject"), "[Up] site is up again after 4 min 10 s");
        assert_eq!(up.header("in-reply-to"), down.header("message-id"));
        assert_eq!(up.header("references"), down.header("message-id"));
        assert!(down.text.contains("/alert/"), "{}", down.text);
        assert!(down.header("content-type").starts_with("multipart/alternative"));
    }

    async fn an_inbox_is_not_flooded_and_nothing_is_left_out(setup: Setup) {
        let fixture = DeliveryFixture::email(setup).await;
        let mut jobs = Vec::new();
        for number in 0..30 {
            jobs.push(fixture.monitor(&format!("job-{number:02}")).await);
        }
        for job in &jobs {
            fixture.report(job, "down").await;
        }
        // The clock stands still: the remaining mails wait for the next minute.
        until("the mails of this minute", || async {
            let delivered = |one: &Value| one["state"] == "delivered";
            let all = fixture.deliveries().await.iter().filter(|one| delivered(one)).count();
            (fixture.receiver.mails().len() == 6 || all == 30).then_some(())
        }).await;
        fixture.advance(Duration::from_secs(61));
        fixture.all_are("delivered").await;
        let mails = fixture.receiver.mails();
        assert!(mails.len() <= 12, "six a minute: {}", mails.len());
        for number in 0..30 {
            let name = format!("job-{number:02}");
            let count = mails.iter().filter(|mail| mail.text.contains(&name)).count();
            assert_eq!(count, 1, "{name}");
        }
    }

    async fn a_deferring_server_is_retried_and_a_refusing_one_is_not(setup: Setup) {
        let fixture = DeliveryFixture::email(setup).await;
        fixture.receiver.refuse_with(Some("451 4.7.1 greylisted, try again"));
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        let all = fixture.tried(1).await;
        assert_eq!(all[0]["state"], "waiting");
        assert!(all[0]["last_answer"].as_str().unwrap().contains("greylisted"), "{}", all[0]);
        fixture.receiver.refuse_with(None);
        fixture.advance(Duration::from_secs(60));
        fixture.all_are("delivered").await;
        fixture.receiver.refuse_with(Some("550 5.1.1 no such user"));
        fixture.report(&site, "up").await;
        until("the refusal", || async {
            let all = fixture.deliveries().await;
            (all[0]["state"] == "failed").then_some(())
        }).await;
        assert_eq!(fixture.receiver.mails().len(), 1);
    }

    async fn a_deferred_recipient_is_retried_and_does_not_delay_the_others(setup: Setup) {
        let recipients = "ann@example.com, bob@example.com, gone@example.com";
        let fixture = DeliveryFixture::email_to(setup, recipients).await;
        fixture.receiver.reply_to("RCPT TO:<bob@example.com>", "450 4.2.0 greylisted");
        fixture.receiver.reply_to("RCPT TO:<gone@example.com>", "550 5.1.1 no such user");
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        let waits = fixture.tried(1).await;
        assert_eq!(waits[0]["state"], "waiting");
        for part in ["250 2.0.0", "bob@example.com: ", "greylisted", "gone@example.com: "] {
            assert!(waits[0]["last_answer"].as_str().unwrap().contains(part), "{part}: {}", waits[0]);
        }
        // The others get the recovery at once, in a separate mail.
        fixture.receiver.stop_replying_to("RCPT TO:<bob@example.com>");
        fixture.report(&site, "up").await;
        let mails = fixture.receiver.wait_for_mails(2).await;
        assert_eq!(mails[0].to, ["ann@example.com"]);
        assert!(mails[1].header("subject").starts_with("[Up]"), "{}", mails[1].text);
        assert_eq!(mails[1].to, ["ann@example.com", "bob@example.com"]);
        fixture.advance(Duration::from_secs(10));
        fixture.all_are("delivered").await;
        let mails = fixture.receiver.mails();
        assert_eq!(mails.len(), 3);
        assert!(mails[2].header("subject").starts_with("[Down]"), "{}", mails[2].text);
        assert_eq!(mails[2].header("message-id"), mails[0].header("message-id"));
        assert_eq!(mails[2].header("to"), mails[0].header("to"));
        assert_eq!(mails[2].to, ["bob@example.com"]);
        // Two for the first mail, three for the second, one for the last: mail to other
        // recipients does not count against the limit of one.
        until("six to be counted", || async {
            (fixture.app.database.rows("sent_mails").await == 6).then_some(())
        }).await;
    }

    async fn in_a_storm_every_recipient_is_notified_once_though_some_are_deferred(setup: Setup) {
        let fixture = DeliveryFixture::email_to(setup, "ann@example.com, bob@example.com").await;
        fixture.receiver.reply_to("RCPT TO:<bob@example.com>", "450 4.2.0 greylisted");
        let mut jobs = Vec::new();
        for number in 0..12 {
            jobs.push(fixture.monitor(&format!("job-{number:02}")).await);
        }
        for job in &jobs[..10] {
            fixture.report(job, "down").await;
        }
        let received = |name: &str, recipient: &str| {
            let mails = fixture.receiver.mails();
            mails.iter().filter(|one| one.to == [recipient] && one.text.contains(name)).count()
        };
        for _ in 0..2 {
            until("the mails of this minute", || async {
                let full = (0..10).filter(|n| received(&format!("job-{n:02}"), "ann@example.com") > 0).count();
                (full >= 6).then_some(())
            }).await;
            fixture.advance(Duration::from_secs(61));
        }
        until("ann to receive all", || async {
            (0..10).all(|n| received(&format!("job-{n:02}"), "ann@example.com") == 1).then_some(())
        }).await;
        fixture.receiver.stop_replying_to("RCPT TO:<bob@example.com>");
        // New events for both recipients, beside the deferred ones of one.
        for job in &jobs[10..] {
            fixture.report(job, "down").await;
        }
        until("all to be delivered", || async {
            fixture.advance(Duration::from_secs(61));
            let all = fixture.deliveries().await;
            all.iter().all(|one| one["state"] == "delivered").then_some(())
        }).await;
        for number in 0..10 {
            let name = format!("job-{number:02}");
            assert_eq!((received(&name, "ann@example.com"), received(&name, "bob@example.com")), (1, 1), "{name}");
        }
        let both = fixture.receiver.mails().iter().filter(|one| one.to.len() == 2).count();
        assert!((1..=2).contains(&both), "{both}");
    }

    async fn a_partly_delivered_mail_counts_as_delivered_when_the_rest_is_given_up(setup: Setup) {
        let fixture = DeliveryFixture::email_to(setup, "ann@example.com, bob@example.com").await;
        fixture.receiver.reply_to("RCPT TO:<bob@example.com>", "452 4.2.2 mailbox full");
        let site = fixture.monitor("site").await;
        fixture.report(&site, "down").await;
        for attempt in 1..=9 {
            let waits = fixture.tried(attempt).await;
            assert_eq!(waits[0]["state"], "waiting");
            fixture.advance_to_next_try(&waits[0]);
        }
        let done = fixture.all_are("delivered").await;
        assert_eq!(done[0]["attempts"], 10);
        let answer = done[0]["last_answer"].as_str().unwrap();
        assert!(answer.contains("bob@example.com: ") && answer.contains("mailbox full"), "{answer}");
        assert_eq!(fixture.receiver.mails().len(), 1);
    }
}
