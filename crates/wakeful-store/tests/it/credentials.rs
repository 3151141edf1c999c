//! Credentials: an operation based on a revoked credential is refused.

#![expect(clippy::unwrap_used, reason = "tests fail loudly")]

use sqlx::{Connection as _, Executor as _};
use wakeful_core::access::{Role, Scope};
use wakeful_core::accounts::reauthentication::SessionMethod;
use wakeful_core::accounts::totp::Seed;
use wakeful_core::email_address::EmailAddress;
use wakeful_core::id::{ApiKeyId, SessionId, TeamId, UserId};
use wakeful_core::monitors::bulk::BulkChange;
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_store::{
    Account, AddUserOutcome, Authority, BulkEdit, Credential, FilterChange, MemberChange,
    MemberOutcome, MonitorSelection, NewAccount, NewApiKey, NewMember, NewSession, Store,
    StoreError, UserChange,
};
use wakeful_testkit::{Database, DatabaseKind, system, until, whole};

use crate::fixture::{NOW, monitor, next, sign_up};
use crate::on_both;

const PASSWORD: Credential<'_> = Credential::Password { hash: "-", mfa_enabled: false };

fn session(team: TeamId, user: UserId) -> NewSession {
    let id = SessionId::new(NOW, next());
    let digest = Digest::of(&id.to_string());
    let method = SessionMethod::Password;
    NewSession { id, user, team, method, digest, address: String::new(), agent: String::new() }
}

fn api_key(team: TeamId, user: UserId) -> NewApiKey {
    let id = ApiKeyId::new(NOW, next());
    let digest = Digest::of(&id.to_string());
    let (name, prefix) = (String::new(), String::new());
    let scope = Scope::Full;
    let (filter, expires) = (None, None);
    let sealed_identity = Vec::new();
    NewApiKey { id, user, team, name, prefix, scope, filter, expires, digest, sealed_identity }
}

fn by(team: TeamId, user: UserId, session: SessionId) -> Authority<'static> {
    Authority { user, team, credential: Credential::Session(session) }
}

fn new_account() -> NewAccount {
    let user = UserId::new(NOW, next());
    let email = EmailAddress::parse(&format!("{user}@example.com")).unwrap();
    NewAccount { user, email, name: String::new(), password_hash: "-".into() }
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
    a_session_becomes_fresh_only_with_the_password_that_was_verified => reauthentication;
    a_session_or_a_key_needs_the_credential_of_its_caller => by_credential;
    a_user_is_changed_only_with_a_valid_credential => changes;
    a_suspended_or_demoted_caller_changes_nobody => after_suspension;
    a_revoked_session_neither_revokes_nor_deletes_nor_turns_mfa_on => after_revocation;
    sessions_of_an_api_key_end_when_it_is_deleted => sessions_of_keys;
    new_sessions_evict_the_least_recently_used => eviction;
    a_reset_token_works_only_for_the_address_it_was_mailed_to => resets;
}

async fn session_by_password(store: Store) {
    let (team, user, _) = sign_up(&store).await;
    store.add_session(&session(team, user), PASSWORD, Some(&system()), NOW).await.unwrap();
    let with_mfa = Credential::Password { hash: "-", mfa_enabled: true };
    assert_gone(&store.add_session(&session(team, user), with_mfa, Some(&system()), NOW).await);
    store.rehash_password(&account(&store, user).await, "new").await.unwrap();
    assert_gone(&store.add_session(&session(team, user), PASSWORD, Some(&system()), NOW).await);
    let unknown = UserId::new(NOW, next());
    assert_gone(&store.add_session(&session(team, unknown), PASSWORD, Some(&system()), NOW).await);
}

async fn reauthentication(store: Store) {
    let (team, user, _) = sign_up(&store).await;
    let (elsewhere, other, _) = sign_up(&store).await;
    let [own, beside] = [session(team, user), session(team, user)];
    for new in [&own, &beside] {
        store.add_session(new, PASSWORD, Some(&system()), NOW).await.unwrap();
    }
    let later = Millis(NOW.0 + 3_600_000);
    let enter = async |id: SessionId, entered| {
        store.reauthenticate_session(id, user, team, entered, later).await
    };
    let fresh_since = async |new: &NewSession| {
        store.session(new.digest, None).await.unwrap().unwrap().reauthenticated_at
    };
    let with_mfa = Credential::Password { hash: "-", mfa_enabled: true };
    assert!(!enter(own.id, with_mfa).await.unwrap());
    assert_eq!(fresh_since(&own).await, NOW);
    assert!(enter(own.id, PASSWORD).await.unwrap());
    assert_eq!((fresh_since(&own).await, fresh_since(&beside).await), (later, NOW));
    // Not that of another user, and not with the password that was replaced meanwhile.
    assert_gone(&store.reauthenticate_session(own.id, other, elsewhere, PASSWORD, later).await);
    let key = api_key(team, user);
    let authority = Authority { user, team, credential: Credential::Session(own.id) };
    store.add_api_key(&key, authority, &system(), NOW).await.unwrap();
    let by_key = session(team, user);
    let credential = Credential::ApiKey(key.id);
    store.add_session(&by_key, credential, Some(&system()), NOW).await.unwrap();
    assert!(!enter(by_key.id, PASSWORD).await.unwrap(), "opened with a key");
    store.rehash_password(&account(&store, user).await, "new").await.unwrap();
    assert!(!enter(beside.id, PASSWORD).await.unwrap());
    assert_eq!(fresh_since(&beside).await, NOW);
    store.end_session(user, beside.id, &system()).await.unwrap();
    let new = Credential::Password { hash: "new", mfa_enabled: false };
    assert_gone(&enter(beside.id, new).await);
    assert!(enter(own.id, new).await.unwrap());
}

async fn by_credential(store: Store) {
    let (team, user, first) = sign_up(&store).await;
    let (elsewhere, other, _) = sign_up(&store).await;
    let by_session = Credential::Session(first);
    let key = api_key(team, user);
    store
        .add_api_key(
            &key,
            Authority { user: key.user, team, credential: by_session },
            &system(),
            NOW,
        )
        .await
        .unwrap();
    let by_key = Credential::ApiKey(key.id);
    store.add_session(&session(team, user), by_key, Some(&system()), NOW).await.unwrap();
    // A credential is valid only for its own user.
    assert_gone(
        &store
            .add_api_key(
                &api_key(elsewhere, other),
                Authority { user: other, team: elsewhere, credential: by_session },
                &system(),
                NOW,
            )
            .await,
    );
    assert_gone(&store.add_session(&session(elsewhere, other), by_key, Some(&system()), NOW).await);
    assert_eq!(
        store
            .team(&whole(team))
            .revoke(&[user], by(team, user, first), &system(), NOW)
            .await
            .unwrap(),
        MemberOutcome::Done
    );
    assert_gone(
        &store
            .add_api_key(
                &api_key(team, user),
                Authority { user, team, credential: by_session },
                &system(),
                NOW,
            )
            .await,
    );
    assert_gone(
        &store
            .add_api_key(
                &api_key(team, user),
                Authority { user, team, credential: by_key },
                &system(),
                NOW,
            )
            .await,
    );
    assert_gone(&store.add_session(&session(team, user), by_key, Some(&system()), NOW).await);
    assert!(store.api_keys(user, Some(team)).await.unwrap().is_empty());
}

/// The caller was authorized before the password was hashed, which takes a while.
async fn after_suspension(store: Store) {
    let (id, ann, of_ann) = sign_up(&store).await;
    let team = store.team(&whole(id));
    let site = monitor(id, "site");
    team.add_monitor(&site, &system()).await.unwrap();
    let (bob, eve, new) = (new_account(), new_account(), new_account());
    for account in [&bob, &eve] {
        let member = NewMember {
            account,
            role: Some(Role::Admin),
            filter: FilterChange::Unchanged,
            limit: None,
        };
        team.add_user(&member, by(id, ann, of_ann), &system(), NOW).await.unwrap();
    }
    let of_bob = session(id, bob.user);
    store.add_session(&of_bob, PASSWORD, Some(&system()), NOW).await.unwrap();
    let by_bob = by(id, bob.user, of_bob.id);
    let change_bob = async |role: Option<Role>, suspended: bool| {
        let (caller, filter) = (by(id, ann, of_ann), FilterChange::Unchanged);
        let change =
            MemberChange { user: bob.user, caller, role, suspended: Some(suspended), filter };
        assert_eq!(team.change_member(&change, &system(), NOW).await.unwrap(), MemberOutcome::Done);
    };
    let takeover = UserChange {
        user: eve.user,
        email: eve.email.clone(),
        password_hash: Some("known to bob".to_owned()),
        role: None,
        filter: FilterChange::Unchanged,
        caller: bob.user,
        credential: by_bob.credential,
    };
    let member =
        NewMember { account: &new, role: None, filter: FilterChange::Unchanged, limit: None };

    change_bob(None, true).await;
    assert_gone(&team.add_user(&member, by_bob, &system(), NOW).await);
    assert_gone(&team.delete_monitors(&[site.id], Some(by_bob), &system()).await);
    assert_gone(&team.change_user(&takeover, &system(), NOW).await);
    assert_gone(&team.revoke(&[eve.user], by_bob, &system(), NOW).await);
    assert_gone(&store.add_api_key(&api_key(id, bob.user), by_bob, &system(), NOW).await);
    change_bob(Some(Role::Viewer), false).await;
    assert_gone(&team.delete_monitors(&[site.id], Some(by_bob), &system()).await);
    let which = MonitorSelection::Ids(vec![site.id]);
    let before = team.bulk_settings(&which).await.unwrap().remove(0);
    let after = before.settings.clone();
    let edits = [BulkEdit { before, after }];
    let change = BulkChange::default();
    assert_gone(&team.change_monitors(&edits, &change, None, Some(by_bob), &system()).await);
    let added = team.add_user(&member, by_bob, &system(), NOW).await.unwrap();
    assert_eq!(added, AddUserOutcome::Refused(MemberOutcome::RoleTooHigh));
    let changed = team.change_user(&takeover, &system(), NOW).await.unwrap();
    assert_eq!(changed, MemberOutcome::RoleTooHigh);
    assert_eq!(account(&store, eve.user).await.password_hash, "-");
    assert_eq!(team.members().await.unwrap().len(), 3);
}

async fn changes(store: Store) {
    let (team, user, first) = sign_up(&store).await;
    let second = session(team, user);
    store.add_session(&second, PASSWORD, Some(&system()), NOW).await.unwrap();
    let email = EmailAddress::parse(&account(&store, user).await.email).unwrap();
    let change = |id: SessionId, hash: &str| UserChange {
        user,
        email: email.clone(),
        password_hash: Some(hash.to_owned()),
        role: None,
        filter: FilterChange::Unchanged,
        caller: user,
        credential: Credential::Session(id),
    };
    let id = team;
    let team = store.team(&whole(team));
    assert_eq!(
        team.change_user(&change(second.id, "by the second"), &system(), NOW).await.unwrap(),
        MemberOutcome::Done
    );
    // The first session has ended with that change.
    assert_gone(&team.change_user(&change(first, "by the first"), &system(), NOW).await);
    assert_eq!(account(&store, user).await.password_hash, "by the second");
    let bob = new_account();
    let bob = NewMember { account: &bob, role: None, filter: FilterChange::Unchanged, limit: None };
    assert_gone(&team.add_user(&bob, by(id, user, first), &system(), NOW).await);
    team.add_user(&bob, by(id, user, second.id), &system(), NOW).await.unwrap();
}

async fn after_revocation(store: Store) {
    let (team, user, ended) = sign_up(&store).await;
    store.set_mfa_seed(user, &Seed::new([7; 20])).await.unwrap();
    let sealed = store.mfa(user).await.unwrap().unwrap().sealed;
    assert!(store.end_session(user, ended, &system()).await.unwrap());
    let (team, by) = (store.team(&whole(team)), by(team, user, ended));
    assert_gone(&team.revoke(&[user], by, &system(), NOW).await);
    assert_gone(&team.delete_users(&[user], by, &system(), NOW).await);
    assert_gone(&store.enable_mfa(by, &sealed, 1, &[], &system()).await);
    assert!(!account(&store, user).await.mfa_enabled);
}

async fn sessions_of_keys(store: Store) {
    let (team, user, first) = sign_up(&store).await;
    let key = api_key(team, user);
    store
        .add_api_key(
            &key,
            Authority { user: key.user, team, credential: Credential::Session(first) },
            &system(),
            NOW,
        )
        .await
        .unwrap();
    let opened = session(team, user);
    store.add_session(&opened, Credential::ApiKey(key.id), Some(&system()), NOW).await.unwrap();
    assert!(store.session(opened.digest, None).await.unwrap().is_some());
    assert!(store.delete_api_key(user, None, key.id, &system()).await.unwrap());
    assert!(store.session(opened.digest, None).await.unwrap().is_none());
    let left = store.sessions(user, Millis(0), Millis(0)).await.unwrap();
    assert_eq!(left.iter().map(|session| session.id).collect::<Vec<_>>(), [first]);
}

async fn eviction(store: Store) {
    let (team, user, first) = sign_up(&store).await;
    let key = api_key(team, user);
    store
        .add_api_key(
            &key,
            Authority { user: key.user, team, credential: Credential::Session(first) },
            &system(),
            NOW,
        )
        .await
        .unwrap();
    let by_key = session(team, user);
    store.add_session(&by_key, Credential::ApiKey(key.id), Some(&system()), NOW).await.unwrap();
    // Sessions of one key cannot evict those of another.
    let busy = api_key(team, user);
    store
        .add_api_key(
            &busy,
            Authority { user: busy.user, team, credential: Credential::Session(first) },
            &system(),
            NOW,
        )
        .await
        .unwrap();
    for later in 1..=201 {
        let by_busy = Credential::ApiKey(busy.id);
        store
            .add_session(&session(team, user), by_busy, Some(&system()), Millis(NOW.0 + later))
            .await
            .unwrap();
    }
    assert!(store.session(by_key.digest, None).await.unwrap().is_some());
    assert!(store.delete_api_key(user, None, busy.id, &system()).await.unwrap());
    let mut opened = Vec::new();
    for later in 1..200 {
        opened.push(session(team, user));
        store
            .add_session(opened.last().unwrap(), PASSWORD, Some(&system()), Millis(NOW.0 + later))
            .await
            .unwrap();
    }
    let sessions = async || store.sessions(user, Millis(0), Millis(0)).await.unwrap();
    assert_eq!(sessions().await.len(), 201, "200 by password and one by key");
    store.touch_session(first, Millis(NOW.0 + 300)).await.unwrap();
    store
        .add_session(&session(team, user), PASSWORD, Some(&system()), Millis(NOW.0 + 400))
        .await
        .unwrap();
    let left: Vec<SessionId> = sessions().await.iter().map(|session| session.id).collect();
    assert_eq!(left.len(), 201);
    assert!(left.contains(&first), "used recently");
    assert!(left.contains(&by_key.id), "not opened by a password");
    assert!(!left.contains(&opened[0].id), "least recently used");
    assert!(left.contains(&opened[1].id));
}

async fn resets(store: Store) {
    let (team, user, first) = sign_up(&store).await;
    let before = account(&store, user).await;
    let digest = Digest::of("a token");
    let later = Millis(NOW.0 + 1);
    store.add_password_reset(&before, digest, later, None, None, NOW).await.unwrap();
    let change = UserChange {
        user,
        email: EmailAddress::parse("new@example.com").unwrap(),
        password_hash: None,
        role: None,
        filter: FilterChange::Unchanged,
        caller: user,
        credential: Credential::Session(first),
    };
    assert_eq!(
        store.team(&whole(team)).change_user(&change, &system(), NOW).await.unwrap(),
        MemberOutcome::Done
    );
    for address in [before.email.as_str(), "new@example.com"] {
        assert!(!store.is_password_reset_valid(digest, address, NOW).await.unwrap());
        assert_eq!(store.reset_password(digest, address, "x", &system()).await.unwrap(), None);
    }
    // A reset that was requested before the address changed.
    assert_gone(&store.add_password_reset(&before, digest, later, None, None, NOW).await);
    let after = account(&store, user).await;
    store.add_password_reset(&after, digest, later, None, None, NOW).await.unwrap();
    assert_eq!(store.reset_password(digest, &before.email, "x", &system()).await.unwrap(), None);
    let reset = store.reset_password(digest, "new@example.com", "x", &system()).await.unwrap();
    assert_eq!(reset, Some(user));
}

/// On PostgreSQL, a statement can still read the values that an uncommitted change
/// replaces, so the new session has to wait for the change.
#[tokio::test]
async fn a_session_waits_for_a_password_change_in_progress() {
    let database = Database::new(DatabaseKind::Postgres).await;
    let store = database.open().await;
    let (team, user, _) = sign_up(&store).await;
    let mut changer = database.postgres().await;
    let mut change = changer.begin().await.unwrap();
    change.execute("update users set password_hash = 'new'").await.unwrap();
    change.execute("delete from sessions").await.unwrap();
    let session = session(team, user);
    let by = system();
    let opening = store.add_session(&session, PASSWORD, Some(&by), NOW);
    let committing = async {
        until("the session waits or has been added", || async {
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
