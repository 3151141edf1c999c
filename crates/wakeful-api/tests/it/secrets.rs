//! What a thief of the database finds: nothing that lets them in.

use serde_json::json;
use wakeful_testkit::{PASSWORD, Phone, both_engines};

both_engines! {
    async fn a_stolen_database_shows_no_secret_in_clear(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let (phone, codes) = Phone::enable(&ann, &app.clock).await;
        let reset = app.lose_password(&ann, 0).await;
        let pending = ann.colleague(&app.anonymous(), "bob@example.com").await;
        let setup = pending.client.post_nothing("mfa/setup").await.ok();
        let waiting = Phone::scan(&setup);
        let secret = setup["secret"].as_str().unwrap();
        // The look finds what is there in clear, so it would find a secret.
        assert!(app.database.holds(b"ann@example.com").await);
        assert!(app.database.holds(&keys.apikey.as_bytes()[..10]).await, "the shown prefix");
        for secret in [
            PASSWORD, &ann.token, &pending.token, &keys.apikey, &keys.enckey, &reset, &codes[0],
            &codes[0].replace('-', ""), secret, &ann.token[3..], &keys.apikey[10..], &reset[4..],
        ] {
            assert!(!app.database.holds(secret.as_bytes()).await, "{secret}");
        }
        for seed in [phone.seed(), waiting.seed()] {
            assert!(!app.database.holds(seed).await);
        }
        let weak = "select count(*) from users where password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%'";
        assert_eq!(app.database.number(weak).await, 0);
    }

    async fn a_row_alone_turns_no_key_into_anothers(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let eve = app.sign_up("eve@example.com").await;
        let keys = eve.new_keys(&app.anonymous()).await;
        // Somebody who can write rows points their own key at another user.
        let forge = "update api_keys set user_id = (select id from users where email = 'ann@example.com')";
        app.database.execute(forge).await;
        assert!(!keys.client.is_let_in().await);
        let body = json!({"apikey": keys.apikey, "enckey": keys.enckey});
        app.anonymous().post("authenticated", &body).await.refused(401, "bad_credentials");
        assert!(ann.client.is_let_in().await);
    }
}
