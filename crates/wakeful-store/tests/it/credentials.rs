//! Credentials: what is based on one that was revoked meanwhile is refused.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use sqlx::{Connection as _, Executor as _};
use wakeful_core::email::Email;
use wakeful_core::id::{ApiKeyId, SessionId, UserId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_store::{
    Account, Credential, NewAccount, NewApiKey, NewSession, Store, StoreError, UserChange,
};
use wakeful_testkit::{Database, Engine, until};

use crate::bench::{NOW, next, sign_up};
use crate::on_both;

const PASSWORD: Credential<'_> = Credential::Password { hash: "-", mfa_enabled: false };

fn session(user: UserId) -> NewSession {
    let id = SessionId::new(NOW, next());
    let digest = Digest::of(&id.to_string());
    NewSession { id, user, digest, address: String::new(), agent: String::new() }
}

fn api_key(user: UserId) -> NewApiKey {
    let id = ApiKeyId::new(NOW, next());
    let digest = Digest::of(&id.to_string());
    let (name, prefix) = (String::new(), String::new());
    NewApiKey { id, user, name, prefix, digest, stands_for: Vec::new() }
}

async fn account(store: &Store, user: UserId) -> Account {
    store.account(user).await.unwrap().unwrap()
}

#[track_caller]
fn assert_gone<T: std::fmt::Debug>(outcome: &Result<T, StoreError>) {
    assert!(matches!(outcome, Err(StoreError::Gone)), "{outcome:?}");
}

on_both! {
    a_session_needs_the_password_that_was_verified => session_by_password;
    a_session_or_a_key_needs_the_credential_of_its_caller => by_credential;
    a_user_is_changed_only_with_a_live_credential => changes;
    sessions_of_a_key_end_with_it => sessions_of_keys;
    the_sessions_unused_for_longest_make_room_for_new_ones => eviction;
    a_reset_token_works_for_the_address_it_was_mailed_to => resets;
}

async fn session_by_password(store: Store) {
    let (_, user, _) = sign_up(&store).await;
    store.add_session(&session(user), PASSWORD, NOW).await.unwrap();
    let with_mfa = Credential::Password { hash: "-", mfa_enabled: true };
    assert_gone(&store.add_session(&session(user), with_mfa, NOW).await);
    store.renew_hash(&account(&store, user).await, "new").await.unwrap();
    assert_gone(&store.add_session(&session(user), PASSWORD, NOW).await);
    let nobody = UserId::new(NOW, next());
    assert_gone(&store.add_session(&session(nobody), PASSWORD, NOW).await);
}

async fn by_credential(store: Store) {
    let (team, user, first) = sign_up(&store).await;
    let (_, other, _) = sign_up(&store).await;
    let by_session = Credential::Session(first);
    let key = api_key(user);
    store.add_api_key(&key, by_session, NOW).await.unwrap();
    let by_key = Credential::ApiKey(key.id);
    store.add_session(&session(user), by_key, NOW).await.unwrap();
    // Those of one user are good for this user alone.
    assert_gone(&store.add_api_key(&api_key(other), by_session, NOW).await);
    assert_gone(&store.add_session(&session(other), by_key, NOW).await);
    assert!(store.team(team).revoke(&[user], NOW).await.unwrap());
    assert_gone(&store.add_api_key(&api_key(user), by_session, NOW).await);
    assert_gone(&store.add_api_key(&api_key(user), by_key, NOW).await);
    assert_gone(&store.add_session(&session(user), by_key, NOW).await);
    assert!(store.api_keys(user).await.unwrap().is_empty());
}

async fn changes(store: Store) {
    let (team, user, first) = sign_up(&store).await;
    let second = session(user);
    store.add_session(&second, PASSWORD, NOW).await.unwrap();
    let email = Email::parse(&account(&store, user).await.email).unwrap();
    let change = |id: SessionId, hash: &str| UserChange {
        user,
        email: email.clone(),
        password_hash: Some(hash.to_owned()),
        caller: user,
        credential: Credential::Session(id),
    };
    let team = store.team(team);
    assert!(team.change_user(&change(second.id, "by the second"), NOW).await.unwrap());
    // The first session has ended with that change.
    assert_gone(&team.change_user(&change(first, "by the first"), NOW).await);
    assert_eq!(account(&store, user).await.password_hash, "by the second");
    let bob = UserId::new(NOW, next());
    let bob = NewAccount {
        user: bob,
        email: Email::parse(&format!("{bob}@example.com")).unwrap(),
        name: String::new(),
        password_hash: "-".into(),
    };
    let by = |id| (user, Credential::Session(id));
    assert_gone(&team.add_user(&bob, None, by(first), NOW).await);
    team.add_user(&bob, None, by(second.id), NOW).await.unwrap();
}

async fn sessions_of_keys(store: Store) {
    let (_, user, first) = sign_up(&store).await;
    let key = api_key(user);
    store.add_api_key(&key, Credential::Session(first), NOW).await.unwrap();
    let opened = session(user);
    store.add_session(&opened, Credential::ApiKey(key.id), NOW).await.unwrap();
    assert!(store.session(opened.digest).await.unwrap().is_some());
    assert!(store.delete_api_key(user, key.id).await.unwrap());
    assert!(store.session(opened.digest).await.unwrap().is_none());
    let left = store.sessions(user, Millis(0), Millis(0)).await.unwrap();
    assert_eq!(left.iter().map(|session| session.id).collect::<Vec<_>>(), [first]);
}

async fn eviction(store: Store) {
    let (_, user, first) = sign_up(&store).await;
    let key = api_key(user);
    store.add_api_key(&key, Credential::Session(first), NOW).await.unwrap();
    let by_key = session(user);
    store.add_session(&by_key, Credential::ApiKey(key.id), NOW).await.unwrap();
    let mut opened = Vec::new();
    for later in 1..200 {
        opened.push(session(user));
        store.add_session(opened.last().unwrap(), PASSWORD, Millis(NOW.0 + later)).await.unwrap();
    }
    let sessions = async || store.sessions(user, Millis(0), Millis(0)).await.unwrap();
    assert_eq!(sessions().await.len(), 201, "200 by password and one by key");
    store.touch_session(first, Millis(NOW.0 + 300)).await.unwrap();
    store.add_session(&session(user), PASSWORD, Millis(NOW.0 + 400)).await.unwrap();
    let left: Vec<SessionId> = sessions().await.iter().map(|session| session.id).collect();
    assert_eq!(left.len(), 201);
    assert!(left.contains(&first), "used since");
    assert!(left.contains(&by_key.id), "not opened by a password");
    assert!(!left.contains(&opened[0].id), "unused for longest");
    assert!(left.contains(&opened[1].id));
}

async fn resets(store: Store) {
    let (team, user, first) = sign_up(&store).await;
    let before = account(&store, user).await;
    let digest = Digest::of("a token");
    let later = Millis(NOW.0 + 1);
    store.add_reset(&before, digest, later, None, NOW).await.unwrap();
    let change = UserChange {
        user,
        email: Email::parse("new@example.com").unwrap(),
        password_hash: None,
        caller: user,
        credential: Credential::Session(first),
    };
    assert!(store.team(team).change_user(&change, NOW).await.unwrap());
    for address in [before.email.as_str(), "new@example.com"] {
        assert!(!store.reset_is_live(digest, address, NOW).await.unwrap());
        assert_eq!(store.reset_password(digest, address, "x", NOW).await.unwrap(), None);
    }
    // One that was on its way while the address changed.
    assert_gone(&store.add_reset(&before, digest, later, None, NOW).await);
    let after = account(&store, user).await;
    store.add_reset(&after, digest, later, None, NOW).await.unwrap();
    assert_eq!(store.reset_password(digest, &before.email, "x", NOW).await.unwrap(), None);
    let reset = store.reset_password(digest, "new@example.com", "x", NOW).await.unwrap();
    assert_eq!(reset, Some(user));
}

/// PostgreSQL lets a statement read what a change that is not yet committed is about
/// to replace, so the new session has to wait for the change.
#[tokio::test]
async fn a_session_waits_for_a_password_change_in_progress() {
    let database = Database::new(Engine::Postgres).await;
    let store = database.open().await;
    let (_, user, _) = sign_up(&store).await;
    let mut changer = database.postgres().await;
    let mut change = changer.begin().await.unwrap();
    change.execute("update users set password_hash = 'new'").await.unwrap();
    change.execute("delete from sessions").await.unwrap();
    let session = session(user);
    let opening = store.add_session(&session, PASSWORD, NOW);
    let committing = async {
        until("the session waits, or was added", || async {
            let waiting = "select count(*) from pg_stat_activity
                 where datname = current_database() and wait_event_type = 'Lock'";
            let added = database.rows("sessions").await > 1;
            (added || database.number(waiting).await > 0).then_some(())
        })
        .await;
        change.commit().await.unwrap();
    };
    let (opened, ()) = tokio::join!(opening, committing);
    assert_gone(&opened);
    assert_eq!(database.rows("sessions").await, 0);
}
