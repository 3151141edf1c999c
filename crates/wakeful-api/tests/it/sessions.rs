//! login, logout, logoutall, authenticated, users/me.

use serde_json::json;
use wakeful_testkit::both_engines;

both_engines! {
    async fn login_answers_the_user_and_a_token(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": " ANN@example.com ", "password": ann.password});
        let json = app.anonymous().post("login", &body).await.ok();
        assert_eq!(json["user"], json!({"groupid": ann.team, "userid": ann.userid, "email": ann.email}));
        let token = json["token"].as_str().unwrap();
        assert!(token.starts_with("wk_"), "{token}");
        let me = app.anonymous().with_token(token).get("users/me").await.ok();
        assert_eq!(me["userid"], ann.userid.as_str());
        assert_eq!(me["email"], ann.email.as_str());
    }
}
