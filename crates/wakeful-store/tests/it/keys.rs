//! The keyring: the wrong one is refused, sealed values are unreadable without it,
//! and keys can be rotated while the data stays readable.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::accounts::totp::Seed;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{MailId, PushSubscriptionId, SessionId, TeamId, UserId};
use wakeful_core::notifications::notifier::{PushReceiver, PushSubscription};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_store::{
    Keyring, KeyringError, Mail, NewAccount, NewSession, Resealed, Store, StoreError,
};
use wakeful_testkit::{both_databases, system};

const NOW: Millis = Millis(1_794_735_000_000);
const PUSH_KEY: [u8; 32] = *b"the private key of push messages";
/// How many sealed values `fill` leaves.
const RESEALED: u64 = 7;
const SEED: [u8; 20] = *b"twenty secret bytes!";

fn mail(at: u8) -> Mail {
    Mail {
        id: MailId::new(NOW, [at; 10]),
        to: "ann@example.com".into(),
        reply_to: None,
        subject: "a sealed subject".into(),
        text: "a sealed text".into(),
    }
}

fn browser() -> PushSubscription {
    let keys = format!(r#"{{"p256dh": "B{}", "auth": "{}"}}"#, "A".repeat(86), "A".repeat(22));
    let receiver = PushReceiver::from_parts("https://push.example.com/a-sealed-address", &keys);
    PushSubscription {
        id: PushSubscriptionId::new(NOW, [5; 10]),
        receiver: receiver.unwrap(),
        agent: String::new(),
        created: NOW,
        last_used: None,
    }
}

/// A user with a second factor and a browser, a queued mail, and the key pair for push messages:
/// all have sealed values.
async fn fill(store: &Store) -> UserId {
    let user = UserId::new(NOW, [1; 10]);
    let account = NewAccount {
        user,
        email: EmailAddress::parse("ann@example.com").unwrap(),
        name: String::new(),
        password_hash: "x".into(),
    };
    let team = TeamId::new(NOW, [3; 10]);
    let session = NewSession {
        id: SessionId::new(NOW, [2; 10]),
        user,
        team,
        method: SessionMethod::Password,
        digest: Digest::of("token"),
        address: String::new(),
        agent: String::new(),
    };
    store.sign_up(team, &account, &session, &mail(4), None, &system()).await.unwrap();
    assert!(store.set_mfa_seed(user, &Seed::new(SEED)).await.unwrap());
    store.add_push_subscription(user, &browser(), &system()).await.unwrap();
    // Of several nodes that create the key pair for push messages, one wins.
    let (one, other) = tokio::join!(store.push_key(&PUSH_KEY), store.push_key(b"another key"));
    assert_eq!(one.unwrap(), other.unwrap());
    assert_eq!(store.push_key(b"a third key").await.unwrap(), store.push_key(b"").await.unwrap());
    user
}

/// All sealed values open and are unchanged.
async fn opens(store: &Store, user: UserId) {
    let mfa = store.mfa(user).await.unwrap().unwrap();
    assert_eq!(mfa.seed.unwrap().bytes(), SEED);
    let claimed = store.claim_mail(NOW, NOW).await.unwrap().unwrap();
    assert_eq!(claimed.mail.text, "a sealed text");
    assert_eq!(store.push_subscriptions(user).await.unwrap()[0].receiver, browser().receiver);
    let key = store.push_key(b"").await.unwrap();
    assert!([&PUSH_KEY[..], b"another key"].contains(&&key[..]), "{key:?}");
}

both_databases! {
    async fn the_keyring_of_another_database_is_refused(setup: Setup) {
        let database = setup.database().await;
        database.open().await.close().await;
        let other = setup.database().await.keyring();
        let refused = Store::open(&database.options(), other).await.err().unwrap();
        assert!(matches!(refused, StoreError::Sealed(_)), "{refused}");
        assert!(refused.to_string().contains("master key"), "{refused}");
        // The right one still opens it.
        database.open().await;
    }

    async fn sealed_values_are_unreadable_in_the_rows(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let user = fill(&store).await;
        assert!(database.contains_bytes(b"ann@example.com").await, "a value that is not sealed is found");
        for secret in [&SEED[..], b"a sealed subject", b"a sealed text", b"a-sealed-address", &PUSH_KEY] {
            assert!(!database.contains_bytes(secret).await);
        }
        opens(&store, user).await;
    }

    async fn a_sealed_value_is_bound_to_its_row(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        fill(&store).await;
        store.add_mail(&mail(5), Millis(NOW.0 + 1)).await.unwrap();
        database.execute("update mails set content = (select content from mails order by id limit 1)").await;
        opens_first_only(&store).await;
    }

    async fn resealing_moves_every_value_to_the_new_key_once(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        let user = fill(&store).await;
        store.close().await;
        let rotated = database.keyring().rotated();
        rotated.replace(&database.key_file()).unwrap();
        let store = database.open().await;
        opens(&store, user).await;
        // Also the head of the audit log and the value that verifies the keyring.
        assert_eq!(store.reseal().await.unwrap(), Resealed(RESEALED));
        assert_eq!(store.reseal().await.unwrap(), Resealed(0));
        store.close().await;
        // The old key is no longer needed.
        let pruned = database.keyring().pruned();
        assert!(!pruned.has_old_keys());
        pruned.replace(&database.key_file()).unwrap();
        opens(&database.open().await, user).await;
    }

    async fn the_old_key_alone_opens_nothing_after_resealing(setup: Setup) {
        let database = setup.database().await;
        // Not from the file, because that keyring would follow it.
        let old = database.keyring().pruned();
        let store = database.open().await;
        fill(&store).await;
        store.close().await;
        database.keyring().rotated().replace(&database.key_file()).unwrap();
        let store = database.open().await;
        store.reseal().await.unwrap();
        store.close().await;
        let refused = Store::open(&database.options(), old).await.err().unwrap();
        assert!(matches!(refused, StoreError::Sealed(_)), "{refused}");
    }

    async fn resealing_continues_after_one_batch(setup: Setup) {
        let database = setup.database().await;
        let store = database.open().await;
        for at in 0..=255 {
            store.add_mail(&mail(at), NOW).await.unwrap();
        }
        store.close().await;
        database.keyring().rotated().replace(&database.key_file()).unwrap();
        let store = database.open().await;
        assert_eq!(store.reseal().await.unwrap(), Resealed(256 + 1));
        assert_eq!(store.reseal().await.unwrap(), Resealed(0));
    }
}

/// The mail opens in its own row; the copy in another row does not.
async fn opens_first_only(store: &Store) {
    let lease = Millis(NOW.0 + 1000);
    assert_eq!(store.claim_mail(NOW, lease).await.unwrap().unwrap().mail.text, "a sealed text");
    let copied = store.claim_mail(Millis(NOW.0 + 1), lease).await.err().unwrap();
    assert!(matches!(copied, StoreError::Sealed("mails.content")), "{copied}");
}

#[test]
fn a_key_file_is_private_and_refused_when_others_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    Keyring::load_or_create(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let refused = Keyring::load_or_create(&path).err().unwrap();
    assert!(matches!(refused, KeyringError::Open(_)), "{refused}");
}

#[test]
fn an_invalid_key_file_is_refused_and_not_overwritten() {
    use std::os::unix::fs::OpenOptionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("master.key");
    for text in ["", "\n", "too short\n", "AAAA\n"] {
        let mut file = std::fs::OpenOptions::new();
        let file = file.write(true).create(true).truncate(true).mode(0o600).open(&path).unwrap();
        std::io::Write::write_all(&mut &file, text.as_bytes()).unwrap();
        let refused = Keyring::load_or_create(&path).err().unwrap();
        assert!(matches!(refused, KeyringError::Malformed(_)), "{refused}");
        assert!(!refused.to_string().contains("short"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}
