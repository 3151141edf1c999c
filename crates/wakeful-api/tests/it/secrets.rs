//! A stolen database contains nothing that grants access.

use serde_json::json;
use wakeful_testkit::{Authenticator, PASSWORD, both_databases};

/// The hash of `PASSWORD` with less memory and fewer passes.
const WEAK_HASH: &str = "$argon2id$v=19$m=4096,t=1,p=1$EFXLBiNNm8ktN/F563Xp5A$t8A20i/U/ReUjXYPLK9jNCRL/GXJxMQ1Bf6JTIN82ho";

both_databases! {
    async fn a_stolen_database_shows_no_secret_in_clear(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let (authenticator, codes) = Authenticator::enable(&ann, &app.clock).await;
        let reset = app.request_password_reset(&ann, 0).await;
        let pending = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let setup = pending.client.post_nothing("mfa/setup").await.ok();
        let waiting = Authenticator::scan(&setup);
        let secret = setup["secret"].as_str().unwrap();
        // The search finds plain text, so it would find a secret.
        assert!(app.database.contains_bytes(b"ann@example.com").await);
        assert!(app.database.contains_bytes(&keys.apikey.as_bytes()[..10]).await, "the shown prefix");
        for secret in [
            PASSWORD, &ann.token, &pending.token, &keys.apikey, &keys.enckey, &reset, &codes[0],
            &codes[0].replace('-', ""), secret, &ann.token[3..], &keys.apikey[10..], &reset[4..],
        ] {
            assert!(!app.database.contains_bytes(secret.as_bytes()).await, "{secret}");
        }
        for seed in [authenticator.seed(), waiting.seed()] {
            assert!(!app.database.contains_bytes(seed).await);
        }
        let weak = "select count(*) from users where password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%'";
        assert_eq!(app.database.number(weak).await, 0);
    }

    async fn a_password_hashed_with_less_work_is_rehashed_at_login(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let bob = app.sign_up("bob@example.com").await;
        // A hash of the same password by another implementation.
        app.database.execute(&format!("update users set password_hash = '{WEAK_HASH}'")).await;
        let today = "select count(*) from users where password_hash like '$argon2id$v=19$m=19456,t=2,p=1$%'";
        app.anonymous().post("login", &json!({"email": "ann@example.com", "password": "wrong one 9"})).await
            .refused(401, "bad_credentials");
        assert_eq!(app.database.number(today).await, 0);
        for _ in 0..2 {
            app.anonymous().post("login", &json!({"email": "ann@example.com", "password": PASSWORD})).await.ok();
            assert_eq!(app.database.number(today).await, 1);
        }
        // A new hash is not a new password: existing sessions remain valid.
        ann.client.get("users/me").await.ok();
        bob.client.get("users/me").await.ok();
    }

    async fn a_stolen_database_shows_no_secret_of_a_monitor_notifier_or_stream(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let monitor = json!({"type": "http", "name": "site", "heartbeat_interval": 60,
            "isactive": false, "upside_down_mode": false, "http": {
                "url": "https://target.example/", "authentication_type": "basic", "username": "ann",
                "password": "sentinel-of-the-password", "method": "POST",
                "headers": "Authorization: Bearer sentinel-of-a-header", "body": "sentinel-of-the-body"}});
        let saved = ann.client.post("monitor/save", &monitor).await.ok()["monitor"].clone();
        let notifier = json!({"type": "email", "name": "ops", "email": {"hostname": "127.0.0.1",
            "port": 25, "security": "None", "ignore_tls_errors": false, "username": "user",
            "password": "sentinel-of-the-mailbox", "from_email": "a@example.com",
            "to_email": "b@example.com", "to_cc": "", "to_bcc": "", "subject": ""}});
        assert_eq!(ann.client.post("notifier/save", &notifier).await.status, 200);
        let stream = json!({"url": "https://siem.example/sentinel-of-the-path", "isactive": false});
        let stream = ann.client.post("audit/stream/save", &stream).await.ok();
        let signing = stream["secret"].as_str().unwrap();
        assert!(app.database.contains_bytes(b"https://target.example/").await, "the search finds plain text");
        assert!(!app.database.contains_bytes(b"sentinel").await);
        assert!(!app.database.contains_bytes(&signing.as_bytes()["whsec_".len()..]).await);
        let path = format!("monitor/{}/get", saved["monitorid"].as_str().unwrap());
        let read = ann.client.get(&path).await.ok()["monitor"].clone();
        assert_eq!(read, saved);
        assert_eq!(read["http"]["headers"], monitor["http"]["headers"]);
        assert_eq!(read["http"]["body"], monitor["http"]["body"]);
    }

    async fn a_key_cannot_be_moved_to_another_user_by_changing_its_row(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let keys = eve.new_keys(&app.anonymous()).await;
        // An attacker with write access points their own key to another user.
        let forge = "update api_keys set user_id = (select id from users where email = 'ann@example.com')";
        app.database.execute(forge).await;
        assert!(!keys.client.is_authenticated().await);
        let body = json!({"apikey": keys.apikey, "enckey": keys.enckey});
        app.anonymous().post("authenticated", &body).await.refused(401, "bad_credentials");
        assert!(ann.client.is_authenticated().await);
    }
}
