//! Notifiers as a team keeps them: what is secret of them is sealed, the rest
//! is JSON that only those who deliver read.

use wakeful_core::id::NotifierId;
use wakeful_core::secret::Secret;
use wakeful_core::time::Millis;

use crate::dialect::write;
use crate::{Result, TeamStore};

#[derive(Clone, Debug)]
pub struct NewNotifier {
    pub id: NotifierId,
    pub name: String,
    pub kind: &'static str,
    /// JSON without the secret.
    pub config: String,
    pub secret: Option<Secret>,
}

impl TeamStore<'_> {
    /// Keeps a new notifier. `Gone` when the team is.
    pub async fn add_notifier(&self, notifier: &NewNotifier, now: Millis) -> Result<()> {
        let context = format!("notifiers.secret:{}", notifier.id);
        let secret = notifier
            .secret
            .as_ref()
            .map(|secret| self.store.keyring.seal(&context, secret.expose().as_bytes()));
        write!(self.store, |db| {
            sqlx::query(
                "insert into notifiers
                 (id, team_id, name, kind, config, secret, created, modified)
                 values ($1, $2, $3, $4, $5, $6, $7, $7)",
            )
            .bind(notifier.id.uuid())
            .bind(self.team.uuid())
            .bind(notifier.name.as_str())
            .bind(notifier.kind)
            .bind(notifier.config.as_str())
            .bind(secret.as_deref())
            .bind(now.0)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        Ok(())
    }
}
