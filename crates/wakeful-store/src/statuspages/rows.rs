//! Maps rows to status pages with their sections, components and rules.

use std::collections::HashMap;
use uuid::Uuid;
use wakeful_core::id::{ComponentId, SectionId, StatuspageId, TeamId};
use wakeful_core::secret::Secret;
use wakeful_core::statuspages::component::{
    Component, ComponentMonitor, ComponentSettings, Override, Section, SectionSettings,
};
use wakeful_core::statuspages::page::{Access, PageDomain, PageImage, PageSettings, StatusPage};
use wakeful_core::statuspages::rule::Rule;
use wakeful_core::statuspages::snapshot::ImageKind;
use wakeful_core::time::Millis;

use crate::dialect::{from_row, read};
use crate::monitors::visible::is_visible;
use crate::{Keyring, Result, Store, StoreError};

pub(crate) const ACCESS_TOKEN: &str = "statuspages.access_token";

macro_rules! columns {
    () => {
        "p.id, p.team_id, p.name, p.slug, p.published, p.access, p.password_hash,
         p.password_revision, p.access_token, p.settings, p.revision, p.changed, p.created,
         p.modified"
    };
}
pub(super) use columns as page_columns;

/// A page without its parts.
pub(super) struct PageRow {
    pub(super) page: StatusPage,
    access_token: Option<Vec<u8>>,
    pub(super) revision: i64,
    pub(super) changed: i64,
}

fn decode(error: impl std::error::Error + Send + Sync + 'static) -> sqlx::Error {
    sqlx::Error::Decode(error.into())
}

from_row!(PageRow, |row| Self {
    page: StatusPage {
        id: row.try_get::<Uuid, _>(0)?.into(),
        team: row.try_get::<Uuid, _>(1)?.into(),
        name: row.try_get(2)?,
        slug: row.try_get(3)?,
        published: row.try_get(4)?,
        access: Access::parse(row.try_get(5)?).map_err(decode)?,
        password_hash: row.try_get(6)?,
        password_revision: row.try_get(7)?,
        access_token: None,
        settings: serde_json::from_str::<PageSettings>(row.try_get(9)?).map_err(decode)?,
        domains: Vec::new(),
        sections: Vec::new(),
        rules: Vec::new(),
        images: Vec::new(),
        created: Millis(row.try_get(12)?),
        modified: Millis(row.try_get(13)?),
    },
    access_token: row.try_get(8)?,
    revision: row.try_get(10)?,
    changed: row.try_get(11)?,
});

struct SectionRow(Section);

from_row!(SectionRow, |row| Self(Section {
    id: row.try_get::<Uuid, _>("id")?.into(),
    name: row.try_get("name")?,
    settings: serde_json::from_str::<SectionSettings>(row.try_get("settings")?).map_err(decode)?,
    components: Vec::new(),
}));

struct ComponentRow {
    section: SectionId,
    component: Component,
}

from_row!(ComponentRow, |row| {
    let set: Option<&str> = row.try_get("override")?;
    Self {
        section: row.try_get::<Uuid, _>("section_id")?.into(),
        component: Component {
            id: row.try_get::<Uuid, _>("id")?.into(),
            name: row.try_get("name")?,
            monitors: Vec::new(),
            tag: row.try_get("tag")?,
            settings: serde_json::from_str::<ComponentSettings>(row.try_get("settings")?)
                .map_err(decode)?,
            status_override: set
                .map(serde_json::from_str::<Override>)
                .transpose()
                .map_err(decode)?,
            created: Millis(row.try_get("created")?),
        },
    }
});

struct RuleRow(Rule);

from_row!(RuleRow, |row| Self(Rule {
    id: row.try_get::<Uuid, _>("id")?.into(),
    name: row.try_get("name")?,
    isactive: row.try_get("isactive")?,
    settings: serde_json::from_str(row.try_get("settings")?).map_err(decode)?,
}));

/// A page with the revision that a change must name.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredPage {
    pub page: StatusPage,
    pub revision: i64,
    /// Another number after every change of what is shown.
    pub changed: i64,
}

pub(super) fn seal(keyring: &Keyring, page: &StatusPage) -> Option<Vec<u8>> {
    let token = page.access_token.as_ref()?;
    Some(keyring.seal(&format!("{ACCESS_TOKEN}:{}", page.id), token.expose().as_bytes()))
}

impl PageRow {
    pub(super) fn unsealed(mut self, keyring: &Keyring) -> Result<Self> {
        if let Some(sealed) = &self.access_token {
            let context = format!("{ACCESS_TOKEN}:{}", self.page.id);
            let plain = keyring.open(&context, sealed).ok_or(StoreError::Sealed("statuspages"))?;
            let text =
                std::str::from_utf8(&plain).map_err(|_| StoreError::Damaged("statuspages"))?;
            self.page.access_token = Some(Secret::new(text));
        }
        Ok(self)
    }
}

impl Store {
    /// Reads a page of a team with all its parts. `filter` is that of the caller: monitors
    /// outside are left out.
    pub(super) async fn read_statuspage(
        &self,
        id: StatuspageId,
        team: TeamId,
        filter: Option<Uuid>,
    ) -> Result<Option<StoredPage>> {
        let row: Option<PageRow> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select ",
                columns!(),
                " from statuspages p where p.id = $1 and p.team_id = $2"
            ))
            .bind(id.uuid())
            .bind(team.uuid())
            .fetch_optional(db)
            .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let PageRow { mut page, revision, changed, .. } = row.unsealed(&self.keyring)?;
        page.domains = self.statuspage_domains(id).await?;
        page.images = self.statuspage_image_list(id).await?;
        page.sections = self.statuspage_sections(&page, filter).await?;
        page.rules = self.statuspage_rules(id).await?;
        Ok(Some(StoredPage { page, revision, changed }))
    }

    async fn statuspage_domains(&self, id: StatuspageId) -> Result<Vec<PageDomain>> {
        let rows: Vec<(String, bool, Option<i64>)> = read!(self, |db| {
            sqlx::query_as(
                "select domain, is_primary, verified from statuspage_domains
                 where page_id = $1 order by domain",
            )
            .bind(id.uuid())
            .fetch_all(db)
            .await
        })?;
        let domain = |(domain, primary, verified): (String, bool, Option<i64>)| PageDomain {
            domain,
            primary,
            verified: verified.map(Millis),
        };
        Ok(rows.into_iter().map(domain).collect())
    }

    async fn statuspage_image_list(&self, id: StatuspageId) -> Result<Vec<PageImage>> {
        let rows: Vec<(String, String, String)> = read!(self, |db| {
            sqlx::query_as(
                "select kind, digest, media_type from statuspage_images
                 where page_id = $1 order by kind",
            )
            .bind(id.uuid())
            .fetch_all(db)
            .await
        })?;
        let image = |(kind, digest, media_type): (String, String, String)| {
            let kind = ImageKind::parse(&kind)?;
            Some(PageImage { kind, digest, media_type })
        };
        Ok(rows.into_iter().filter_map(image).collect())
    }

    async fn statuspage_sections(
        &self,
        page: &StatusPage,
        filter: Option<Uuid>,
    ) -> Result<Vec<Section>> {
        let sections: Vec<SectionRow> = read!(self, |db| {
            sqlx::query_as(
                "select id, name, settings from sections where page_id = $1 order by position, id",
            )
            .bind(page.id.uuid())
            .fetch_all(db)
            .await
        })?;
        let components: Vec<ComponentRow> = read!(self, |db| {
            sqlx::query_as(
                "select id, section_id, name, tag, settings, override, created from components
                 where page_id = $1 order by position, id",
            )
            .bind(page.id.uuid())
            .fetch_all(db)
            .await
        })?;
        let monitors: Vec<(Uuid, Uuid, String)> = read!(self, |db| {
            sqlx::query_as(concat!(
                "select cm.component_id, m.id, m.name
                 from components c
                 join component_monitors cm on cm.component_id = c.id
                 join monitors m on m.id = cm.monitor_id
                 where c.page_id = $1 and m.team_id = $2 and ",
                is_visible!("3"),
                " order by cm.component_id, cm.position"
            ))
            .bind(page.id.uuid())
            .bind(page.team.uuid())
            .bind(filter)
            .fetch_all(db)
            .await
        })?;
        let mut of: HashMap<ComponentId, Vec<ComponentMonitor>> = HashMap::new();
        for (component, id, name) in monitors {
            let monitor = ComponentMonitor { id: id.into(), name };
            of.entry(component.into()).or_default().push(monitor);
        }
        let mut sections: Vec<Section> = sections.into_iter().map(|row| row.0).collect();
        for ComponentRow { section, mut component } in components {
            component.monitors = of.remove(&component.id).unwrap_or_default();
            if let Some(section) = sections.iter_mut().find(|one| one.id == section) {
                section.components.push(component);
            }
        }
        Ok(sections)
    }

    async fn statuspage_rules(&self, id: StatuspageId) -> Result<Vec<Rule>> {
        let rows: Vec<RuleRow> = read!(self, |db| {
            sqlx::query_as(
                "select id, name, isactive, settings from statuspage_rules
                 where page_id = $1 order by position, id",
            )
            .bind(id.uuid())
            .fetch_all(db)
            .await
        })?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }
}
