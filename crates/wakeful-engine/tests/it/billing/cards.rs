//! Card numbers and codes are never written to disk: neither to the database and its log nor
//! to a mail.

use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use wakeful_testkit::{DatabaseKind, Setup};

use super::choose;

/// A number that appears nowhere else by chance.
const NUMBER: &str = "4929000000006";
const SPACED: &str = "4929 0000 00006";

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Whether the digits appear on their own: hexadecimal ids contain any four digits sooner or
/// later.
fn stands_alone(bytes: &[u8], digits: &[u8]) -> bool {
    let part_of_more =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    (0..bytes.len().saturating_sub(digits.len())).any(|at| {
        let end = at + digits.len();
        bytes[at..end] == *digits
            && !part_of_more(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && !part_of_more(bytes.get(end))
    })
}

#[tokio::test]
async fn no_file_contains_a_card_number_or_a_code() {
    let app = Setup::on(DatabaseKind::Sqlite).start().await;
    let ann = app.sign_up("ann@example.com").await.client;
    for (number, cvc) in [(NUMBER, "9173"), (SPACED, "9173")] {
        let mut body = choose("pro");
        body["cardNumber"] = json!(number);
        body["cvc"] = json!(cvc);
        ann.post("membership/save", &body).await.ok();
        ann.post("paymentmethod/save", &body).await.ok();
        body["cardNumber"] = json!("4000000000000002");
        assert_eq!(ann.post("paymentmethod/save", &body).await.status, 402);
        body["expiryMonth"] = json!(13);
        assert_eq!(ann.post("paymentmethod/save", &body).await.status, 422);
    }
    let mut all = Vec::new();
    files(&app.database.folder(), &mut all);
    assert!(all.len() >= 3, "{all:?}");
    let mut last4 = 0;
    for path in all {
        let bytes = fs::read(&path).unwrap();
        let contains = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        for secret in [NUMBER, SPACED, "4000000000000002"] {
            assert!(!contains(secret), "{secret} is in {}", path.display());
        }
        assert!(!stands_alone(&bytes, b"9173"), "the code is in {}", path.display());
        last4 += usize::from(contains("0006"));
    }
    assert!(last4 > 0, "the search finds the last four digits");
    app.stop().await;
}
