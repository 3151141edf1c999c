//! The tables of a database as the database itself describes them: columns with
//! their kinds, the key that identifies rows, and the tables they depend on.

use std::collections::{BTreeMap, BTreeSet};

use super::value::{Kind, Value};
use super::{MAX_BOUND_VALUES, MIGRATIONS_TABLE, PAGE_ROWS, TransferError};
use crate::dialect::Pool;
use crate::{Result, Store};

const SQLITE_COLUMNS: &str = "select t.name, c.name, c.type, c.pk, c.\"notnull\"
     from sqlite_master t
     join pragma_table_xinfo(t.name) c
     where t.type = 'table' and t.name not like 'sqlite_%' and c.hidden = 0
     order by t.name, c.cid";
const SQLITE_UNIQUE: &str = "select t.name, i.name, c.name
     from sqlite_master t
     join pragma_index_list(t.name) i
     join pragma_index_info(i.name) c
     where t.type = 'table' and i.\"unique\" and not i.partial
     order by t.name, i.name, c.seqno";
const SQLITE_PARENTS: &str = "select t.name, f.\"table\"
     from sqlite_master t
     join pragma_foreign_key_list(t.name) f
     where t.type = 'table'";
const POSTGRES_COLUMNS: &str = "select c.relname::text, a.attname::text,
            format_type(a.atttypid, a.atttypmod)::text,
            coalesce((select k.place
                      from pg_index i, unnest(i.indkey::int2[]) with ordinality k(number, place)
                      where i.indrelid = c.oid and i.indisprimary and k.number = a.attnum), 0),
            a.attnotnull::int::bigint
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = current_schema()::regnamespace
     and c.relkind in ('r', 'p') and not c.relispartition
     and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     order by c.relname, a.attnum";
const POSTGRES_UNIQUE: &str = "select c.relname::text, x.relname::text, a.attname::text
     from pg_index i
     join pg_class c on c.oid = i.indrelid
     join pg_class x on x.oid = i.indexrelid
     cross join unnest(i.indkey::int2[]) with ordinality k(number, place)
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.number
     where c.relnamespace = current_schema()::regnamespace
     and not c.relispartition and i.indisunique and i.indpred is null
     order by c.relname, x.relname, k.place";
const POSTGRES_PARENTS: &str = "select c.relname::text, p.relname::text
     from pg_constraint f
     join pg_class c on c.oid = f.conrelid
     join pg_class p on p.oid = f.confrelid
     where f.contype = 'f' and f.connamespace = current_schema()::regnamespace";

/// A table to copy. Its columns are sorted by name.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// The indexes of the key's columns; empty when there is no key.
    pub(super) key: Vec<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: String,
    /// The kind on PostgreSQL, if that is one of the two databases.
    pub(super) kind: Kind,
}

impl Table {
    pub(super) fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    /// The number of rows copied together; all of them without a key.
    pub(super) fn page(&self) -> usize {
        if self.has_key() { PAGE_ROWS.min(self.batch()) } else { usize::MAX >> 1 }
    }

    /// The number of rows that fit into one statement.
    pub(super) fn batch(&self) -> usize {
        (MAX_BOUND_VALUES / self.columns.len().max(1)).clamp(1, PAGE_ROWS)
    }

    pub(super) fn key_of(&self, row: &[Value]) -> Vec<Value> {
        self.key.iter().map(|index| row[*index].clone()).collect()
    }

    pub(super) fn list(&self) -> String {
        let names = self.columns.iter().map(|column| format!("\"{}\"", column.name));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Table, column, declared type, position in the key from 1, not null.
type ColumnRow = (String, String, String, i64, i64);
/// Table, index, column, in the index's order.
type UniqueRow = (String, String, String);

/// The tables of both databases, parent tables first.
pub(super) async fn common(
    from: &Store,
    to: &Store,
) -> std::result::Result<Vec<Table>, TransferError> {
    let (one, other) = (from.described().await?, to.described().await?);
    let (mut here, there) = (tables(&one)?, tables(&other)?);
    add_keys(&mut here, &one, &from.unique().await?);
    for table in here.values().chain(there.values()) {
        let same = |tables: &BTreeMap<String, Table>| {
            let found = tables.get(&table.name)?;
            let names = |table: &Table| -> Vec<String> {
                table.columns.iter().map(|column| column.name.clone()).collect()
            };
            (names(found) == names(table)).then_some(())
        };
        if same(&here).and(same(&there)).is_none() {
            return Err(TransferError::Schema(table.name.clone()));
        }
    }
    // PostgreSQL has the more specific kinds.
    let postgres = [(from, &here), (to, &there)]
        .into_iter()
        .find(|(store, _)| matches!(store.pool, Pool::Postgres(_)));
    let kinds = postgres.map_or_else(|| here.clone(), |(_, tables)| tables.clone());
    for (name, table) in &mut here {
        table.columns.clone_from(&kinds[name].columns);
    }
    in_order(here, &from.parents().await?)
}

fn tables(described: &[ColumnRow]) -> std::result::Result<BTreeMap<String, Table>, TransferError> {
    let mut sorted: Vec<&ColumnRow> =
        described.iter().filter(|row| row.0 != MIGRATIONS_TABLE).collect();
    sorted.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    let mut found: BTreeMap<String, Table> = BTreeMap::new();
    let mut keys: BTreeMap<&str, Vec<(i64, usize)>> = BTreeMap::new();
    for (table, name, declared, index, _) in sorted {
        let kind = Kind::parse(declared).ok_or_else(|| TransferError::Schema(table.clone()))?;
        let entry = found.entry(table.clone()).or_insert_with(|| Table {
            name: table.clone(),
            columns: Vec::new(),
            key: Vec::new(),
        });
        if *index > 0 {
            keys.entry(table).or_default().push((*index, entry.columns.len()));
        }
        entry.columns.push(Column { name: name.clone(), kind });
    }
    for (table, mut key) in keys {
        key.sort_unstable();
        if let Some(table) = found.get_mut(table) {
            table.key = key.into_iter().map(|(_, index)| index).collect();
        }
    }
    Ok(found)
}

/// Without a primary key, a unique index over columns that are never null serves as
/// well.
fn add_keys(tables: &mut BTreeMap<String, Table>, described: &[ColumnRow], unique: &[UniqueRow]) {
    let never_null: BTreeSet<(&str, &str)> = described
        .iter()
        .filter(|(.., never_null)| *never_null != 0)
        .map(|(table, column, ..)| (table.as_str(), column.as_str()))
        .collect();
    let mut indexes: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (table, index, column) in unique {
        indexes.entry((table, index)).or_default().push(column);
    }
    for ((name, _), columns) in indexes {
        let Some(table) = tables.get_mut(name).filter(|table| !table.has_key()) else { continue };
        if columns.iter().all(|column| never_null.contains(&(name, *column))) {
            let index =
                |column: &&str| table.columns.iter().position(|known| known.name == **column);
            table.key = columns.iter().filter_map(index).collect();
        }
    }
}

/// Sorts every table after those that it references.
fn in_order(
    mut left: BTreeMap<String, Table>,
    parents: &[(String, String)],
) -> std::result::Result<Vec<Table>, TransferError> {
    let mut ordered: Vec<Table> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waiting: BTreeSet<&str> = parents
            .iter()
            .filter(|(child, parent)| child != parent && left.contains_key(parent))
            .map(|(child, _)| child.as_str())
            .collect();
        let free: Vec<String> =
            left.keys().filter(|name| !waiting.contains(name.as_str())).cloned().collect();
        if free.is_empty() {
            let stuck = left.keys().next().cloned().unwrap_or_default();
            return Err(TransferError::Schema(stuck));
        }
        ordered.extend(free.iter().filter_map(|name| left.remove(name)));
    }
    Ok(ordered)
}

impl Store {
    async fn described(&self) -> Result<Vec<ColumnRow>> {
        Ok(match &self.pool {
            Pool::Sqlite { writer, .. } => sqlx::query_as(SQLITE_COLUMNS).fetch_all(writer).await?,
            Pool::Postgres(pool) => sqlx::query_as(POSTGRES_COLUMNS).fetch_all(pool).await?,
        })
    }

    async fn unique(&self) -> Result<Vec<UniqueRow>> {
        Ok(match &self.pool {
            Pool::Sqlite { writer, .. } => sqlx::query_as(SQLITE_UNIQUE).fetch_all(writer).await?,
            Pool::Postgres(pool) => sqlx::query_as(POSTGRES_UNIQUE).fetch_all(pool).await?,
        })
    }

    async fn parents(&self) -> Result<Vec<(String, String)>> {
        Ok(match &self.pool {
            Pool::Sqlite { writer, .. } => sqlx::query_as(SQLITE_PARENTS).fetch_all(writer).await?,
            Pool::Postgres(pool) => sqlx::query_as(POSTGRES_PARENTS).fetch_all(pool).await?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str) -> (String, Table) {
        let table = Table { name: name.to_owned(), columns: Vec::new(), key: Vec::new() };
        (name.to_owned(), table)
    }

    #[test]
    fn parent_tables_come_first() {
        let left = BTreeMap::from([table("a"), table("b"), table("c")]);
        let parents = [("a", "b"), ("b", "c"), ("c", "c")].map(|(a, b)| (a.into(), b.into()));
        let order = in_order(left, &parents).expect("an order");
        assert_eq!(
            order.iter().map(|table| table.name.as_str()).collect::<Vec<_>>(),
            ["c", "b", "a"]
        );
    }

    #[test]
    fn a_reference_cycle_is_refused_by_name() {
        let left = BTreeMap::from([table("a"), table("b")]);
        let parents = [("a", "b"), ("b", "a")].map(|(a, b)| (a.into(), b.into()));
        assert!(matches!(in_order(left, &parents), Err(TransferError::Schema(_))));
    }
}
