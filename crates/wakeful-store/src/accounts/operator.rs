//! Queries across teams, for the operator at the command line.

use uuid::Uuid;
use wakeful_core::id::{TeamId, UserId};
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read};
use crate::{Result, Store};

#[derive(Clone, Debug)]
pub struct ListedUser {
    pub user: UserId,
    pub team: TeamId,
    pub email: String,
    pub mfa_enabled: bool,
    pub created: Millis,
}

from_row!(ListedUser, |row| Self {
    user: row.try_get::<Uuid, _>("id")?.into(),
    team: row.try_get::<Uuid, _>("team_id")?.into(),
    email: row.try_get("email")?,
    mfa_enabled: row.try_get("mfa_enabled")?,
    created: Millis(row.try_get("created")?),
});

impl Store {
    /// Every user of the installation, team by team.
    pub async fn all_users(&self) -> Result<Vec<ListedUser>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select id, team_id, email, mfa_enabled, created
                 from users
                 where kind = 'person'
                 order by team_id, id",
            )
            .fetch_all(db)
            .await
        })?)
    }
}
