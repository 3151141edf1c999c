//! What plans allow of status pages: a smaller plan refuses what is new, and takes nothing offline.

use serde_json::json;
use wakeful_engine::billing;
use wakeful_testkit::both_databases;

use crate::public_pages::served;
use crate::subscribers::{post_form, text};

both_databases! {
    async fn a_smaller_plan_refuses_new_pages_and_subscribers_and_takes_nothing_offline(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let mut ids = Vec::new();
        for slug in ["one", "two"] {
            let page = json!({"name": "Acme", "slug": slug, "published": true});
            let saved = ann.client.post("statuspage/save", &page).await.ok();
            ids.push(text(&saved["statuspage"]["pageid"]));
        }
        let all = json!([{"address": "a@example.com"}, {"address": "b@example.com"}, {"address": "c@example.com"}]);
        let import = format!("statuspage/{}/subscribers/import", ids[0]);
        ann.client.post(&import, &json!({"consent": true, "subscribers": all})).await.ok();
        let app = app.restart_with(|setup| {
            let mut plans = billing::Catalog::built_in().plans().to_vec();
            plans[0].limits.status_pages = Some(1);
            plans[0].limits.subscribers = Some(3);
            setup.settings.billing.catalog = billing::Catalog::new(plans).unwrap();
            setup.settings.billing.limits = true;
        }).await;
        let client = app.anonymous().with_token(&ann.token);
        let visitor = app.anonymous();
        for slug in ["one", "two"] {
            served(&visitor, &format!("/status/{slug}"), |answer| answer.status == 200).await;
        }
        // What exists can be changed.
        let change = json!({"pageid": ids[1], "name": "Acme Inc."});
        client.post("statuspage/save", &change).await.ok();
        let another = json!({"name": "Another"});
        let refused = client.post("statuspage/save", &another).await.refused(403, "plan_limit");
        assert_eq!(refused["message"], "The None plan allows 1 status page; upgrade to Starter.");
        let save = format!("statuspage/{}/subscriber/save", ids[1]);
        let new = json!({"address": "d@example.com", "consent": true});
        let refused = client.post(&save, &new).await.refused(403, "plan_limit");
        assert_eq!(refused["message"], "The None plan allows 3 subscribers of status pages; upgrade to Starter.");
        let more = json!({"consent": true, "subscribers": [{"address": "d@example.com"}]});
        client.post(&import, &more).await.refused(403, "plan_limit");
        // Visitors cannot tell.
        let answer = post_form(&visitor, "/status/one/subscribe", "email=vic@example.com&incidents=on").await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert!(answer.text.contains("Check your inbox"), "{}", answer.text);
        for (id, count) in ids.iter().zip([3, 0]) {
            let list = client.get(&format!("statuspage/{id}/subscribers")).await.ok();
            assert_eq!(list["subscribers"].as_array().unwrap().len(), count, "{list}");
        }
        // Where something was deleted, there is room.
        let list = client.get(&format!("statuspage/{}/subscribers", ids[0])).await.ok();
        let one = text(&list["subscribers"][0]["subscriberid"]);
        client.delete(&format!("statuspage/{}/subscriber/{one}/delete", ids[0])).await.ok();
        client.post(&save, &new).await.ok();
        client.delete(&format!("statuspage/{}/delete", ids[0])).await.ok();
        client.post("statuspage/save", &another).await.refused(403, "plan_limit");
        client.delete(&format!("statuspage/{}/delete", ids[1])).await.ok();
        client.post("statuspage/save", &another).await.ok();
        app.stop().await;
    }
}
