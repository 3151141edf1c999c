//! The state of the installation, and what waits to be sent. Every query here is cheap, however
//! many monitors there are; `wakeful doctor` reads everything.

use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::id::{NotifierId, TeamId};
use wakeful_core::time::Millis;
use wakeful_store::{
    DatabaseSize, InstallationCounts, ListedNode, QueueStatus, Retried, StuckDeliveries,
};

use crate::{Authorized, Engine, Error, Page, Reauthenticated, RegionView, Result};

/// How long a message may wait before it counts as stuck.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// Mail that waits for longer than this is a problem.
const MAX_MAIL_WAIT: Duration = Duration::from_secs(3600);
/// The tolerated difference between this machine's clock and that of the database.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(2);

/// The state of the installation.
#[derive(Clone, Debug)]
pub struct Overview {
    pub version: &'static str,
    pub database: &'static str,
    pub size: DatabaseSize,
    pub counts: InstallationCounts,
    /// Empty if this is the only node.
    pub nodes: Vec<ListedNode>,
    /// The time on the database's clock, which the leases of the nodes use.
    pub lease_time: Millis,
    pub regions: Vec<RegionView>,
    pub mail: QueueStatus,
    pub deliveries: QueueStatus,
    pub health: Vec<HealthFinding>,
}

/// Whether a part of the installation works.
#[derive(Clone, Debug)]
pub struct HealthFinding {
    pub check: &'static str,
    pub ok: bool,
    pub message: String,
}

impl Engine {
    pub async fn overview(&self, caller: &Authorized<permission::Operate>) -> Result<Overview> {
        let _turn = self.bulk_turn(caller).await?;
        let store = self.store();
        let (nodes, lease_time) = (store.nodes().await?, store.lease_time().await?);
        let (mail, deliveries) = (store.mail_queue().await?, store.delivery_queue().await?);
        let health = self.health(&nodes, lease_time, mail).await?;
        Ok(Overview {
            version: env!("CARGO_PKG_VERSION"),
            database: store.database_name(),
            size: store.database_size().await?,
            counts: store.installation_counts().await?,
            nodes,
            lease_time,
            regions: self.live_regions(),
            mail,
            deliveries,
            health,
        })
    }

    async fn health(
        &self,
        nodes: &[ListedNode],
        lease_time: Millis,
        mail: QueueStatus,
    ) -> Result<Vec<HealthFinding>> {
        let now = self.now();
        let finding = |check, ok, message: String| HealthFinding { check, ok, message };
        let silent = nodes.iter().filter(|node| node.expires <= lease_time).count();
        let mut found = vec![match self.store().ping().await {
            Ok(()) => finding("database", true, "responds and accepts writes".into()),
            Err(_) => finding("database", false, "does not accept writes".into()),
        }];
        if let Some(theirs) = self.store().database_time().await? {
            let skew = Duration::from_millis(self.local_time().0.abs_diff(theirs.0));
            let message = format!("differs from the database's by {} ms", skew.as_millis());
            found.push(finding("clock", skew <= MAX_CLOCK_SKEW, message));
        }
        if !nodes.is_empty() {
            let message = format!("{} live, {silent} silent", nodes.len() - silent);
            found.push(finding("nodes", silent == 0, message));
        }
        let scheduler = if self.scheduler().is_ready() {
            format!("{} monitors in memory", self.monitor_count())
        } else {
            "the monitors are still being loaded".to_owned()
        };
        found.push(finding("scheduler", self.scheduler().is_ready(), scheduler));
        let late = mail.oldest.is_some_and(|oldest| now.since(oldest) > MAX_MAIL_WAIT);
        let message = match mail.oldest {
            Some(oldest) if late => format!("the oldest mail has waited since {oldest}"),
            _ if !self.has_mail_server() => "no mail server: mails become files".to_owned(),
            _ => "no mail waits for long".to_owned(),
        };
        found.push(finding("mail", !late, message));
        let admins = self.store().has_admin().await? != Some(false);
        if !admins {
            found.push(finding("administrators", false, "nobody".into()));
        }
        Ok(found)
    }

    /// A page of the notifiers whose deliveries are stuck, by team and notifier.
    pub async fn stuck_deliveries(
        &self,
        caller: &Authorized<permission::Operate>,
        after: Option<(TeamId, NotifierId)>,
        limit: u32,
    ) -> Result<Page<StuckDeliveries, (TeamId, NotifierId)>> {
        let _turn = self.bulk_turn(caller).await?;
        let since = self.now().before(MAX_WAIT);
        let stuck = self.store().stuck_deliveries(since, after, limit.saturating_add(1)).await?;
        Ok(Page::of(stuck, Some(limit), |one| (one.team, one.notifier)))
    }

    /// Makes waiting mails and deliveries due now; with a notifier, only its deliveries.
    pub async fn retry_now(
        &self,
        caller: &Reauthenticated<permission::Operate>,
        notifier: Option<NotifierId>,
    ) -> Result<Retried> {
        let _turn = self.bulk_turn(caller).await?;
        let (who, by) = (caller.admin_authority(), self.audit(caller));
        let retried = self.store().retry_now(notifier, who, &by).await?;
        self.announce(true);
        retried.ok_or(Error::NotFound("notifier"))
    }
}
