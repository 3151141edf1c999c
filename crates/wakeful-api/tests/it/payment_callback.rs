//! payment/callback/stripe: authenticated by its signature; never a server error.

use reqwest::Method;
use wakeful_testkit::both_databases;

both_databases! {
    async fn a_callback_without_a_valid_signature_is_400(setup: Setup) {
        let app = setup.start().await;
        let path = "payment/callback/stripe";
        let anonymous = app.anonymous();
        anonymous.raw(Method::POST, path, Some("application/json"), "{}").await
            .refused(400, "bad_signature");
        anonymous.post_nothing(path).await.refused(400, "bad_signature");
        for odd in ["", "t", "t=1", "v1=00", "t=1,v1=00", "t=99999999999999999999,v1=zz", "=,=,="] {
            let caller = anonymous.with("stripe-signature", odd);
            caller.raw(Method::POST, path, Some("text/plain"), "\u{0}").await
                .refused(400, "bad_signature");
        }
        app.stop().await;
    }
}
