//! contactus.

use serde_json::{Value, json};
use std::time::Duration;
use wakeful_testkit::both_databases;

fn form() -> Value {
    json!({
        "contact-name": "Zoë", "contact-email": "zoe@example.com",
        "contact-subject": "a question", "contact-message": "Does it wake me at night?",
    })
}

both_databases! {
    async fn a_message_is_stored_and_mailed_to_the_operator(setup: Setup) {
        let mut setup = setup;
        setup.settings.contact_to = "help@operator.example".into();
        let app = setup.start().await;
        let answer = app.anonymous().post("contactus", &form()).await;
        answer.ok();
        assert_eq!(answer.keys(), ["message", "success"]);
        let mails = app.mails("help@operator.example", 1).await;
        assert!(mails[0].contains("Reply-To: zoe@example.com\r\n"), "{}", mails[0]);
        assert!(mails[0].contains("Subject: [contact] a question\r\n"), "{}", mails[0]);
        assert!(mails[0].contains("Does it wake me at night?"), "{}", mails[0]);
        let stored = "select count(*) from contacts where email = 'zoe@example.com' and subject = 'a question'";
        assert_eq!(app.database.number(stored).await, 1);
        // The sender of the form gets no mail: the address could be someone else's.
        app.engine.drain().await;
        assert_eq!(app.mails_now("zoe@example.com"), Vec::<String>::new());
    }

    async fn all_four_fields_are_required(setup: Setup) {
        let app = setup.start().await;
        let names = ["contact-name", "contact-email", "contact-subject", "contact-message"];
        let answer = app.anonymous().post("contactus", &json!({})).await;
        assert_eq!(answer.wrong_fields(), names);
        for name in names {
            for missing in [json!(null), json!(""), json!(7)] {
                let mut body = form();
                body[name] = missing;
                let answer = app.anonymous().post("contactus", &body).await;
                assert_eq!(answer.wrong_fields(), [name], "{body}");
            }
        }
        let mut body = form();
        body["contact-email"] = "zoe".into();
        assert_eq!(app.anonymous().post("contactus", &body).await.wrong_fields(), ["contact-email"]);
        assert_eq!(app.database.rows("contacts").await, 0);
    }

    async fn a_subject_cannot_inject_headers(setup: Setup) {
        let mut setup = setup;
        setup.settings.contact_to = "help@operator.example".into();
        let app = setup.start().await;
        let mut body = form();
        body["contact-subject"] = "hello\r\nBcc: victim@example.com\r\n\r\nbody".into();
        body["contact-name"] = "Zoë\r\nBcc: victim@example.com".into();
        app.anonymous().post("contactus", &body).await.ok();
        let mails = app.mails("help@operator.example", 1).await;
        let (headers, _) = mails[0].split_once("\r\n\r\n").unwrap();
        assert!(headers.lines().all(|line| !line.to_lowercase().starts_with("bcc:")), "{headers}");
    }

    async fn messages_are_limited_per_hour_and_address(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.contacts_per_hour = 2;
        let app = setup.start_behind_proxy().await;
        let here = app.caller_from("198.51.100.1");
        here.post("contactus", &form()).await.ok();
        here.post("contactus", &form()).await.ok();
        let limited = here.post("contactus", &form()).await;
        limited.refused(429, "too_many_requests");
        assert_eq!(limited.header("retry-after"), "3600");
        assert_eq!(app.database.rows("contacts").await, 2);
        app.caller_from("198.51.100.2").post("contactus", &form()).await.ok();
        app.clock.advance(Duration::from_secs(3600));
        here.post("contactus", &form()).await.ok();
    }
}
