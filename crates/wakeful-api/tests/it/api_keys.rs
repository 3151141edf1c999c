//! integrations/apikeys: key pairs and their permissions.

use serde_json::json;
use std::time::Duration;
use wakeful_testkit::both_databases;

both_databases! {
    async fn both_keys_are_shown_once_and_the_list_shows_neither(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let answer = ann.client.post("integrations/apikey/save", &json!({"name": "build server"})).await;
        let made = answer.ok();
        assert_eq!(answer.keys(), ["apikey", "apikeyid", "enckey", "message", "success"]);
        let apikey = made["apikey"].as_str().unwrap();
        let enckey = made["enckey"].as_str().unwrap();
        assert!(apikey.starts_with("wka_") && apikey.len() == 47, "{apikey}");
        assert!(enckey.starts_with("wke_") && enckey.len() == 47, "{enckey}");
        let list = ann.client.get("integrations/apikeys").await;
        assert_eq!(list.keys(), ["apikeys", "success"]);
        assert_eq!(list.ok()["apikeys"], json!([{
            "apikeyid": made["apikeyid"], "name": "build server", "created": "2026-11-15T09:30:00.000Z",
            "last_used": null, "last_address": "", "prefix": &apikey[..10], "scope": "full", "monitor_filter": null, "expires": null,
            "groupid": ann.team,
        }]));
        assert!(!list.text.contains(apikey) && !list.text.contains(enckey), "{}", list.text);
    }

    async fn saving_a_listed_key_creates_no_second_one(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let list = async || ann.client.get("integrations/apikeys").await.ok()["apikeys"].clone();
        let before = list().await;
        let back = ann.client.post("integrations/apikey/save", &before[0]).await;
        assert_eq!(back.keys(), ["apikeyid", "message", "success"], "no key is shown again");
        assert_eq!(back.ok()["apikeyid"], keys.id.as_str());
        assert_eq!(list().await, before);
        let renamed = json!({"apikeyid": keys.id, "name": "laptop"});
        ann.client.post("integrations/apikey/save", &renamed).await.ok();
        let after = list().await;
        assert_eq!((after.as_array().unwrap().len(), &after[0]["name"]), (1, &json!("laptop")));
        assert!(keys.client.is_authenticated().await, "the key is still valid");
        // The keys of a colleague cannot be changed, like those of another team.
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let refused = bob.client.post("integrations/apikey/save", &renamed).await;
        refused.refused(404, "not_found");
    }

    async fn the_list_shows_when_a_key_was_used(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        app.clock.advance(Duration::from_secs(90));
        assert!(keys.client.is_authenticated().await);
        let list = ann.client.get("integrations/apikeys").await.ok();
        assert_eq!(list["apikeys"][0]["last_used"], "2026-11-15T09:31:30.000Z");
    }

    async fn a_key_pair_has_the_permissions_of_its_user(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let me = keys.client.get("users/me").await.ok();
        assert_eq!(me["userid"], ann.userid.as_str());
        assert_eq!(keys.client.get("team/get").await.ok(), ann.client.get("team/get").await.ok());
    }

    async fn both_keys_of_a_pair_are_required(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let second = ann.new_keys(&app.anonymous()).await;
        let others = bob.new_keys(&app.anonymous()).await;
        let anonymous = app.anonymous();
        for client in [
            anonymous.with("x-api-key", &keys.apikey),
            anonymous.with("x-enc-key", &keys.enckey),
            anonymous.with_keys(&keys.apikey, ""),
            anonymous.with_keys("", &keys.enckey),
            anonymous.with_keys(&keys.apikey, &second.enckey),
            anonymous.with_keys(&second.apikey, &keys.enckey),
            anonymous.with_keys(&keys.apikey, &others.enckey),
            anonymous.with_keys(&others.apikey, &keys.enckey),
            anonymous.with_keys(&keys.enckey, &keys.apikey),
            anonymous.with_keys(&keys.apikey, &keys.apikey),
            anonymous.with_keys(&keys.apikey, &keys.enckey).with("x-api-key", &others.apikey),
            anonymous.with_keys(&keys.apikey, &keys.enckey).with("x-enc-key", &keys.enckey),
            anonymous.with_keys(&ann.token, &keys.enckey),
        ] {
            assert!(!client.is_authenticated().await);
        }
        for keys in [&keys, &second, &others] {
            assert!(keys.client.is_authenticated().await);
        }
    }

    async fn a_deleted_key_is_rejected(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let other = ann.new_keys(&app.anonymous()).await;
        let path = format!("integrations/apikey/{}/delete", keys.id);
        ann.client.delete(&path).await.ok();
        assert!(!keys.client.is_authenticated().await);
        assert!(other.client.is_authenticated().await);
        ann.client.delete(&path).await.refused(404, "not_found");
        let list = ann.client.get("integrations/apikeys").await.ok();
        assert_eq!(list["apikeys"].as_array().unwrap().len(), 1);
    }

    async fn a_key_can_delete_itself(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        keys.client.delete(&format!("integrations/apikey/{}/delete", keys.id)).await.ok();
        assert!(!keys.client.is_authenticated().await);
    }

    async fn a_user_cannot_access_the_keys_of_a_colleague(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        assert_eq!(bob.client.get("integrations/apikeys").await.ok()["apikeys"], json!([]));
        let path = format!("integrations/apikey/{}/delete", keys.id);
        bob.client.delete(&path).await.refused(404, "not_found");
        assert!(keys.client.is_authenticated().await);
    }

    async fn a_key_requires_a_name(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for name in [json!(null), json!(""), json!("  "), json!(7), json!("x".repeat(256))] {
            let answer = ann.client.post("integrations/apikey/save", &json!({"name": name})).await;
            assert_eq!(answer.wrong_fields(), ["name"], "{name}");
        }
    }

    async fn the_holder_is_reminded_7_days_and_1_day_before_a_key_expires(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let day = Duration::from_secs(86_400);
        for (name, expires) in [("long", 30), ("short", 5), ("shortest", 1)] {
            let body = json!({"name": name, "expires": expires});
            ann.client.post("integrations/apikey/save", &body).await.ok();
        }
        let before = app.mails("ann@example.com", 1).await.len();
        let subjects = async |count: usize| -> Vec<String> {
            app.sweep().await;
            app.sweep().await;
            let mails = app.mails("ann@example.com", before + count).await;
            assert_eq!(mails.len(), before + count);
            let subject = |mail: &String| mail.lines().find_map(|line| line.strip_prefix("Subject: ")).unwrap().to_owned();
            mails[before..].iter().map(subject).collect()
        };
        assert!(subjects(0).await.is_empty(), "a new key needs no reminder");
        app.clock.advance(4 * day);
        assert_eq!(subjects(1).await, ["API key short expires within a day"]);
        app.clock.advance(19 * day);
        assert_eq!(subjects(2).await[1], "API key long expires in 7 days");
        app.clock.advance(6 * day);
        assert_eq!(subjects(3).await[2], "API key long expires within a day");
        // Expired keys are listed for another 30 days.
        let listed = async || {
            let ann = ann.log_in(&app.anonymous()).await;
            ann.client.get("integrations/apikeys").await.ok()["apikeys"].as_array().unwrap().len()
        };
        assert_eq!(listed().await, 3);
        app.clock.advance(30 * day);
        app.sweep().await;
        assert_eq!(listed().await, 1);
        app.clock.advance(day * 2);
        app.sweep().await;
        assert_eq!(listed().await, 0);
    }
}
