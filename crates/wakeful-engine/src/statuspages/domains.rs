//! Custom domains: which ones a page may have, and the record in the DNS that proves that the
//! team owns one.

use std::time::Duration;
use wakeful_core::access::{Permission, permission};
use wakeful_core::id::StatuspageId;
use wakeful_core::statuspages::page::{DomainRecord, PageDomain, StatusPage};
use wakeful_outbound::net::Deadline;
use wakeful_store::DueDomain;

use crate::caller::{Authorized, Caller};
use crate::mail::templates;
use crate::notifications::notifiers::require_all_monitors;
use crate::{Engine, Error, Result};

/// How often the record of a domain is looked up.
const CHECK_INTERVAL: Duration = Duration::from_secs(86_400);
/// How long a lookup may take.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);
/// How many domains one round of the janitor looks up.
const MAX_CHECKS: u32 = 100;

/// What the DNS says about a domain.
#[derive(Clone, Debug)]
pub struct DomainLookup {
    pub outcome: DomainOutcome,
    pub expected: DomainRecord,
    /// The texts at the name of the record.
    pub found: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DomainOutcome {
    Verified,
    /// The name has no such record.
    Missing,
    /// The lookup failed.
    NoAnswer(String),
}

impl Engine {
    /// Whether a domain is served only once its record was found.
    pub(super) fn verifies_domains(&self) -> bool {
        self.settings().verify_domains
    }

    /// The public address of a page.
    pub(crate) fn statuspage_url(&self, page: &StatusPage) -> String {
        page.url(self.public_url(), self.verifies_domains())
    }

    /// The link that ends a subscription. It is at the app's own host, where it still works when
    /// the page is not published any more, or has lost its domain.
    pub(crate) fn unsubscribe_url(&self, page: &StatusPage, token: &str) -> String {
        format!("{}/status/{}/unsubscribe/{token}", self.public_url(), page.slug)
    }

    /// Looks up the record of a domain of a page, and remembers that it was found.
    pub async fn check_statuspage_domain(
        &self,
        caller: &Authorized<permission::Edit>,
        id: StatuspageId,
        domain: &str,
    ) -> Result<DomainLookup> {
        require_all_monitors(caller)?;
        let page = self.stored_statuspage(caller, id).await?.page;
        if page.domains.iter().all(|one| one.domain != domain) {
            let why = "must be one of the domains of the page; save them first".to_owned();
            return Err(Error::Refused { field: "domain", why });
        }
        let lookup = self.look_up_domain(id, domain).await;
        if lookup.outcome == DomainOutcome::Verified {
            let team = self.store().team(caller.team_access());
            if team.verify_domain(&page, domain, self.now(), &self.audit(caller)).await? {
                self.note_statuspage(&page);
            }
        }
        Ok(lookup)
    }

    async fn look_up_domain(&self, page: StatuspageId, domain: &str) -> DomainLookup {
        let expected = DomainRecord::of(page, domain);
        let texts = self.net().texts(&expected.name, Deadline::within(LOOKUP_TIMEOUT)).await;
        let (outcome, found) = match texts {
            Ok(found) if found.contains(&expected.value) => (DomainOutcome::Verified, found),
            Ok(found) => (DomainOutcome::Missing, found),
            Err(error) => (DomainOutcome::NoAnswer(error.message().to_owned()), Vec::new()),
        };
        DomainLookup { outcome, expected, found }
    }

    /// Looks up the records of all domains once a day. A team whose record is gone is notified,
    /// and its page is served as before.
    pub(crate) async fn recheck_domains(&self) -> Result<()> {
        if !self.verifies_domains() {
            return Ok(());
        }
        let before = self.now().before(CHECK_INTERVAL);
        for due in self.store().due_domains(before, MAX_CHECKS).await? {
            self.recheck_domain(&due).await?;
        }
        Ok(())
    }

    async fn recheck_domain(&self, due: &DueDomain) -> Result<()> {
        let lookup = self.look_up_domain(due.page, &due.domain).await;
        let found = match &lookup.outcome {
            DomainOutcome::Verified => Some(true),
            DomainOutcome::Missing => Some(false),
            DomainOutcome::NoAnswer(why) => {
                tracing::info!(page.id = %due.page, "looking up the record of {} failed, retrying in a day: {why}", due.domain);
                None
            }
        };
        let is_lost = found == Some(false) && due.is_verified && !due.is_lost;
        let mut mails = Vec::new();
        if is_lost {
            let text = templates::domain_lost(self.settings(), due, &lookup.expected);
            for email in self.emails_of_members_with(due.team, Permission::Edit).await? {
                mails.push(self.new_mail(&email, text.clone()));
            }
        }
        self.store().note_domain_lookup(due, found, &mails, self.now()).await?;
        if is_lost {
            self.0.mail_queued.notify_one();
        }
        if found == Some(true) && !due.is_verified {
            self.note_page_change();
        }
        Ok(())
    }

    /// The domains of a page; those it had remain verified.
    pub(super) async fn complete_domains(
        &self,
        caller: &Caller,
        old: Option<&StatusPage>,
        domains: Vec<String>,
        primary: Option<String>,
    ) -> Result<Vec<PageDomain>> {
        let own = self.public_url().split("://").nth(1).unwrap_or_default();
        let own = own.split(['/', ':']).next().unwrap_or_default();
        if domains.iter().any(|domain| domain.eq_ignore_ascii_case(own)) {
            let why = "must not be the domain of this service".to_owned();
            return Err(Error::Refused { field: "domains", why });
        }
        let known = |domain: &str| {
            old.and_then(|old| old.domains.iter().find(|one| one.domain == domain)?.verified)
        };
        let is_old = |domain: &String| {
            old.is_some_and(|old| old.domains.iter().any(|one| one.domain == *domain))
        };
        // Domains that the page has already stay, whatever the plan.
        if !domains.iter().all(is_old)
            && let Some(plan) = self.limiting_plan(caller.team()).await?
        {
            self.check_domain_limit(&plan)?;
        }
        let mut all: Vec<PageDomain> = domains
            .into_iter()
            .map(|domain| PageDomain {
                primary: primary.as_ref() == Some(&domain),
                verified: known(&domain),
                domain,
            })
            .collect();
        all.sort_by(|one, two| one.domain.cmp(&two.domain));
        Ok(all)
    }
}
