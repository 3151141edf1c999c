//! payment/callback/stripe: proved by its signature, never an error of ours.

use reqwest::Method;
use wakeful_testkit::both_engines;

both_engines! {
    async fn a_callback_without_a_good_signature_is_400(setup: Setup) {
        let app = setup.start().await;
        let path = "payment/callback/stripe";
        let nobody = app.anonymous();
        nobody.raw(Method::POST, path, Some("application/json"), "{}").await
            .refused(400, "bad_signature");
        nobody.post_nothing(path).await.refused(400, "bad_signature");
        for odd in ["", "t", "t=1", "v1=00", "t=1,v1=00", "t=99999999999999999999,v1=zz", "=,=,="] {
            let caller = nobody.with("stripe-signature", odd);
            caller.raw(Method::POST, path, Some("text/plain"), "\u{0}").await
                .refused(400, "bad_signature");
        }
        app.stop().await;
    }
}
