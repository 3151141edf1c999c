//! The OpenAPI document: served, committed, and the same.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use wakeful_testkit::both_engines;

/// Every path and method of the reference that concerns accounts.
const ACCOUNTS: &[&str] = &[
    "get /api/v1/authenticated",
    "post /api/v1/authenticated",
    "post /api/v1/settings/save",
    "get /api/v1/team/get",
    "post /api/v1/team/save",
    "post /api/v1/team/revoke",
    "post /api/v1/team/delete",
    "post /api/v1/login",
    "post /api/v1/logout",
    "post /api/v1/logoutall",
    "post /api/v1/signup",
    "get /api/v1/users/me",
    "post /api/v1/user/delete",
    "delete /api/v1/user/delete",
    "post /api/v1/password/lost",
    "post /api/v1/password/update",
    "post /api/v1/contactus",
    "get /api/v1/integrations/apikeys",
    "post /api/v1/integrations/apikey/save",
    "delete /api/v1/integrations/apikey/{apikeyid}/delete",
    "post /api/v1/mfa/setup",
    "post /api/v1/mfa/enable",
    "post /api/v1/mfa/disable",
];

fn operations(document: &Value) -> Vec<(String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let of_path = |(path, item): (&String, &Value)| {
        let item = item.as_object().unwrap().clone();
        let path = path.clone();
        item.into_iter().map(move |(method, operation)| (format!("{method} {path}"), operation))
    };
    paths.iter().flat_map(of_path).collect()
}

fn document() -> Value {
    serde_json::to_value(wakeful_api::document()).unwrap()
}

#[test]
fn the_committed_document_is_the_one_the_handlers_give() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let current = wakeful_api::document().to_pretty_json().unwrap() + "\n";
    if std::env::var_os("WAKEFUL_UPDATE").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "docs/openapi.json is not what the handlers say: renew it with \
         `WAKEFUL_UPDATE=1 cargo nextest run -p wakeful-api openapi` and read the diff"
    );
}

#[test]
fn the_document_is_openapi_3_1_and_has_every_account_path() {
    let document = document();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."), "{}", document["openapi"]);
    let have: BTreeSet<String> = operations(&document).into_iter().map(|(name, _)| name).collect();
    for name in ACCOUNTS {
        assert!(have.contains(*name), "{name} is missing");
    }
}

#[test]
fn every_operation_has_an_id_of_its_own_and_describes_its_errors() {
    let document = document();
    let mut ids = BTreeSet::new();
    for (name, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap().to_owned();
        assert!(ids.insert(id), "{name}: its operationId is taken");
        let answers = operation["responses"].as_object().unwrap();
        let mut expected = vec!["200", "413", "429", "431", "500", "503"];
        if operation.get("security").is_some() {
            expected.push("401");
        }
        if operation.get("requestBody").is_some() {
            expected.extend(["400", "415", "422"]);
        }
        for status in expected {
            assert!(answers.contains_key(status), "{name} does not describe {status}");
        }
        // The push address answers in the words of the format it follows.
        if name.contains("/api/push/") {
            continue;
        }
        for (status, answer) in answers.iter().filter(|(status, _)| !status.starts_with('2')) {
            let schema = &answer["content"]["application/json"]["schema"]["$ref"];
            assert_eq!(schema, "#/components/schemas/ErrorBody", "{name} {status}");
        }
    }
}

both_engines! {
    async fn the_served_document_is_the_same(setup: Setup) {
        let app = setup.start().await;
        let answer = app.anonymous().get("/api/openapi.json").await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.json(), document());
    }
}
