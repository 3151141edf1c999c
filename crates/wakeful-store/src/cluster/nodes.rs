//! The nodes that share this database. Each node renews its lease, owns slots of
//! monitors, and is evicted by the others when its lease has expired. The lease
//! is the `expires` of its row, by the database's clock; a slot changes owner by
//! an update that increments its epoch. `now` is read before a statement and may
//! be old when it runs: that shortens a node's own lease and extends the leases
//! of others, never the reverse.

use sqlx::Error;
use std::time::Duration;
use uuid::Uuid;
use wakeful_core::cluster::slot::{Grant, Slot};
use wakeful_core::id::NodeId;
use wakeful_core::time::Millis;

use crate::claims::end_leases;
use crate::dialect::{either, from_row, read, within, write};
use crate::monitors::json;
use crate::{Result, Store};

/// A process in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub id: NodeId,
    /// A name for people.
    pub name: String,
    /// The data folder it runs in, if it has one to itself. A node that starts
    /// there replaces its predecessor at once. Empty for none.
    pub home: String,
    pub version: String,
}

/// A node as listed to operators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedNode {
    pub node: Node,
    pub started: Millis,
    /// When it counts as dead unless it renews its lease before.
    pub expires: Millis,
    pub slots: i64,
}

from_row!(ListedNode, |row| Self {
    node: Node {
        id: row.try_get::<Uuid, _>("id")?.into(),
        name: row.try_get("name")?,
        home: row.try_get("home")?,
        version: row.try_get("version")?,
    },
    started: Millis(row.try_get("started")?),
    expires: Millis(row.try_get("expires")?),
    slots: row.try_get("held")?,
});

/// The state of the cluster as returned to a node that renews its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The database's time.
    pub now: Millis,
    /// The number of live nodes, including this one.
    pub live: usize,
    pub held: Vec<Grant>,
    /// Nodes whose lease has expired.
    pub dead: Vec<NodeId>,
}

/// A slot that a node has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenSlot {
    pub grant: Grant,
    /// The milliseconds since the previous owner's lease expired, negative when
    /// it was evicted before that; `None` when it released the slot.
    pub dead_for: Option<i64>,
}

struct SlotRow(Option<Grant>);

from_row!(SlotRow, |row| Self(
    Slot::new(row.try_get("slot")?)
        .map(|slot| Ok::<_, Error>(Grant { slot, epoch: row.try_get("epoch")? }))
        .transpose()?
));

impl Store {
    /// The current time on the clock used for leases, the database's.
    pub async fn lease_time(&self) -> Result<Millis> {
        let sql = either!(
            self,
            sqlite: "select cast(unixepoch('subsec') * 1000 as integer)",
            postgres: "select cast(extract(epoch from clock_timestamp()) * 1000 as bigint)"
        );
        let now: i64 = read!(self, |db| sqlx::query_scalar(sql).fetch_one(db).await)?;
        Ok(Millis(now))
    }

    /// Renews the lease of a node, or registers it as started now.
    pub async fn renew_node(&self, node: &Node, lease: Duration) -> Result<Renewal> {
        let now = self.lease_time().await?;
        write!(self, |db| {
            sqlx::query(
                "insert into nodes (id, name, home, version, started, expires)
                 values ($1, $2, $3, $4, $5, $6)
                 on conflict (id) do update set expires = excluded.expires",
            )
            .bind(node.id.uuid())
            .bind(&node.name)
            .bind(&node.home)
            .bind(&node.version)
            .bind(now.0)
            .bind(now.after(lease).0)
            .execute(db)
            .await
            .map(|_| ())
        })?;
        let nodes: Vec<(Uuid, i64, bool)> = read!(self, |db| {
            sqlx::query_as("select id, expires, leaving from nodes").fetch_all(db).await
        })?;
        let (alive, dead): (Vec<_>, Vec<_>) =
            nodes.into_iter().partition(|(_, expires, _)| *expires > now.0);
        Ok(Renewal {
            now,
            live: alive.iter().filter(|(_, _, leaving)| !leaving).count(),
            held: self.held_slots(node.id).await?,
            dead: dead.into_iter().map(|(id, ..)| id.into()).collect(),
        })
    }

    /// The slots that a node owns.
    pub async fn held_slots(&self, node: NodeId) -> Result<Vec<Grant>> {
        let rows: Vec<SlotRow> = read!(self, |db| {
            sqlx::query_as("select slot, epoch from slots where owner = $1 order by slot")
                .bind(node.uuid())
                .fetch_all(db)
                .await
        })?;
        Ok(rows.into_iter().filter_map(|held| held.0).collect())
    }

    /// Takes up to `limit` slots without an owner, and with `from_dead` also
    /// those of dead owners.
    pub async fn take_slots(
        &self,
        node: NodeId,
        limit: usize,
        from_dead: bool,
    ) -> Result<Vec<TakenSlot>> {
        let now = self.lease_time().await?;
        // Rows locked by the writing of a result are skipped: their owner is
        // alive, or they are free at the next attempt.
        let sql = either!(
            self,
            sqlite: "update slots
                 set owner = $1, epoch = epoch + 1,
                     orphaned = case
                         when owner is null then orphaned
                         else (select n.expires from nodes n where n.id = slots.owner)
                     end
                 where slot in (
                     select s.slot from slots s
                     where s.owner is null
                     or ($3 and not exists (
                         select 1 from nodes n where n.id = s.owner and n.expires > $2))
                     order by s.slot
                     limit $4)
                 returning slot, epoch, orphaned",
            postgres: "update slots
                 set owner = $1, epoch = epoch + 1,
                     orphaned = case
                         when owner is null then orphaned
                         else (select n.expires from nodes n where n.id = slots.owner)
                     end
                 where slot in (
                     select s.slot from slots s
                     where s.owner is null
                     or ($3 and not exists (
                         select 1 from nodes n where n.id = s.owner and n.expires > $2))
                     order by s.slot
                     limit $4
                     for update skip locked)
                 returning slot, epoch, orphaned"
        );
        let rows: Vec<(i64, i64, Option<i64>)> = write!(self, |db| {
            sqlx::query_as(sql)
                .bind(node.uuid())
                .bind(now.0)
                .bind(from_dead)
                .bind(i64::try_from(limit).unwrap_or(i64::MAX))
                .fetch_all(db)
                .await
        })?;
        let taken = rows.into_iter().filter_map(|(slot, epoch, orphaned)| {
            let grant = Grant { slot: Slot::new(slot)?, epoch };
            Some(TakenSlot { grant, dead_for: orphaned.map(|expired| now.0 - expired) })
        });
        Ok(taken.collect())
    }

    /// Releases slots that this node owns.
    pub async fn release_slots(&self, node: NodeId, slots: &[Slot]) -> Result<()> {
        let slots: Vec<u16> = slots.iter().map(|slot| slot.number()).collect();
        // In the order in which results lock them, to prevent deadlocks.
        let sql = either!(
            self,
            sqlite: "update slots set owner = null, orphaned = null
                 where owner = $1 and slot in (select value from json_each($2))",
            postgres: "update slots set owner = null, orphaned = null
                 where slot in (
                     select slot from slots
                     where owner = $1 and slot in (
                         select cast(value as bigint)
                         from json_array_elements_text(cast($2 as json)))
                     order by slot
                     for update)"
        );
        write!(self, |db| {
            sqlx::query(sql).bind(node.uuid()).bind(json(&slots)).execute(db).await.map(|_| ())
        })?;
        Ok(())
    }

    /// Releases all slots and leaves the cluster. Messages that the node is still
    /// sending stay claimed until it is evicted.
    pub async fn leave_cluster(&self, node: NodeId) -> Result<()> {
        write!(self, |db| {
            sqlx::query("update nodes set leaving = true where id = $1")
                .bind(node.uuid())
                .execute(db)
                .await
                .map(|_| ())
        })?;
        let held: Vec<Slot> =
            self.held_slots(node).await?.into_iter().map(|grant| grant.slot).collect();
        self.release_slots(node, &held).await
    }

    /// Deletes a node and frees its slots and the messages it was sending. True
    /// for the one caller that did it. `unless_live` spares a node that has
    /// renewed its lease.
    pub async fn evict_node(&self, node: NodeId, unless_live: bool) -> Result<bool> {
        let now = self.lease_time().await?;
        let mut tx = self.begin().await?;
        let evicted = within!(tx, |db| {
            let expired: Option<i64> = sqlx::query_scalar(
                "delete from nodes
                 where id = $1 and (not $2 or expires <= $3)
                 returning expires",
            )
            .bind(node.uuid())
            .bind(unless_live)
            .bind(now.0)
            .fetch_optional(&mut *db)
            .await?;
            let Some(expired) = expired else { return Ok(false) };
            let lock = either!(
                self,
                sqlite: "select slot from slots where owner = $1",
                postgres: "select slot from slots where owner = $1 order by slot for update"
            );
            sqlx::query(lock).bind(node.uuid()).execute(&mut *db).await?;
            sqlx::query("update slots set owner = null, orphaned = $2 where owner = $1")
                .bind(node.uuid())
                .bind(expired)
                .execute(&mut *db)
                .await?;
            Ok::<_, Error>(true)
        })?;
        end_leases(&mut tx, node.uuid()).await?;
        tx.commit().await?;
        Ok(evicted)
    }

    /// The registered nodes with this home.
    pub async fn nodes_at_home(&self, home: &str) -> Result<Vec<NodeId>> {
        let rows: Vec<Uuid> = read!(self, |db| {
            sqlx::query_scalar("select id from nodes where home = $1 and home <> ''")
                .bind(home)
                .fetch_all(db)
                .await
        })?;
        Ok(rows.into_iter().map(NodeId::from).collect())
    }

    /// All nodes, oldest first.
    pub async fn nodes(&self) -> Result<Vec<ListedNode>> {
        Ok(read!(self, |db| {
            sqlx::query_as(
                "select n.id, n.name, n.home, n.version, n.started, n.expires,
                        (select count(*) from slots s where s.owner = n.id) as held
                 from nodes n
                 order by n.started, n.id",
            )
            .fetch_all(db)
            .await
        })?)
    }
}

/// The database server, as it describes itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Major and minor version, such as 150014; 0 for SQLite, which is compiled in.
    pub number: i64,
    /// As the server writes it.
    pub version: String,
    /// The settings that risk losing committed data; empty when there are none.
    pub unsafe_settings: Vec<&'static str>,
}

impl Store {
    /// The server behind this store.
    pub async fn server(&self) -> Result<Server> {
        let sql = either!(
            self,
            sqlite: "select '0', sqlite_version(), 'on', 'on'",
            postgres: "select current_setting('server_version_num'),
                        current_setting('server_version'), current_setting('fsync'),
                        current_setting('full_page_writes')"
        );
        let (number, version, fsync, pages): (String, String, String, String) =
            read!(self, |db| sqlx::query_as(sql).fetch_one(db).await)?;
        let settings = [("fsync = off", fsync), ("full_page_writes = off", pages)];
        let off = settings.into_iter().filter(|(_, value)| value == "off");
        Ok(Server {
            number: number.parse().unwrap_or(0),
            version,
            unsafe_settings: off.map(|(name, _)| name).collect(),
        })
    }
}
