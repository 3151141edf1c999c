//! What a person gets when they export what is stored about them. It contains no secret.

use wakeful_core::access::permission;
use wakeful_core::audit::{Action, Object, ObjectKind};
use wakeful_core::email_address;
use wakeful_core::id::TeamId;
use wakeful_core::notifications::notifier::PushSubscription;
use wakeful_store::NewEntry;

pub use wakeful_store::{AccountData, ContactsOfUser, EntryOfUser, KeyOfUser, SentContact};

use crate::{Engine, Error, NotifierView, Reauthenticated, Result, Session, TeamOfUser};

/// How many messages of the contact form are exported.
const MAX_CONTACTS: u32 = 1_000;
/// How many entries of the audit log are read at a time.
const ENTRY_BATCH: u32 = 500;

/// Everything but the entries of the audit log, which may be many.
#[derive(Clone, Debug)]
pub struct PersonalData {
    pub account: AccountData,
    pub teams: Vec<TeamOfUser>,
    pub sessions: Vec<Session>,
    pub keys: Vec<KeyOfUser>,
    pub contacts: Vec<SentContact>,
    /// Without their secrets.
    pub notifiers: Vec<NotifierView>,
    pub contact_rules: Vec<ContactsOfUser>,
    pub browsers: Vec<PushSubscription>,
}

impl Engine {
    /// What is stored about the caller. The export is recorded.
    pub async fn begin_personal_export(
        &self,
        caller: &Reauthenticated<permission::Myself>,
    ) -> Result<PersonalData> {
        let _turn = self.bulk_turn(caller).await?;
        let (store, user) = (self.store(), caller.user());
        let person = Object::new(ObjectKind::Person, &user, caller.email());
        let entry = NewEntry::new(Action::AccountExport, person, Vec::new());
        store.write_single_entry(&self.audit(caller), &entry).await?;
        let notifiers = store.notifiers_of_user(user).await?;
        // Anyone can sign up with an address that they cannot read.
        let contacts = if caller.email_verified() {
            store.contacts_from(&email_address::key(caller.email()), MAX_CONTACTS).await?
        } else {
            Vec::new()
        };
        Ok(PersonalData {
            account: store.account_data(user).await?.ok_or(Error::NotAuthenticated)?,
            teams: store.teams_of(user).await?,
            sessions: self.sessions(caller).await?,
            keys: store.keys_of_user(user).await?,
            contacts,
            notifiers: notifiers.into_iter().map(NotifierView::redacted).collect(),
            contact_rules: store.contacts_of_user(user).await?,
            browsers: store.push_subscriptions(user).await?,
        })
    }

    /// The next entries that the caller has left in the audit logs; none at the end.
    pub async fn personal_entries(
        &self,
        caller: &Reauthenticated<permission::Myself>,
        after: Option<(TeamId, i64)>,
    ) -> Result<Vec<EntryOfUser>> {
        let _turn = self.bulk_turn(caller).await?;
        Ok(self.store().entries_of_user(caller.user(), after, ENTRY_BATCH).await?)
    }
}
