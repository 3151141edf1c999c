//! Operations on the on-call schedules of a team, and their calendar feeds.

use data_encoding::BASE64URL_NOPAD;
use std::collections::HashMap;
use std::time::Duration;
use wakeful_core::access::permission;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::calendar::{FOREVER, Span, Start};
use wakeful_core::ical::{self, IcalEvent};
use wakeful_core::id::{OverrideId, ScheduleId, UserId};
use wakeful_core::oncall::{
    Handover, Layer, MAX_OVERRIDES, MAX_RANGE, MAX_SCHEDULES, OnCallSchedule, Override, Shift,
};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;
use wakeful_store::{
    AddOverrideOutcome, DeleteLinkedOutcome, FeedOwner, SaveScheduleOutcome, StoredSchedule,
};

use super::maintenances::unknown_notifiers;
use crate::caller::{Authorized, Caller};
use crate::notifications::notifiers::require_all_monitors;
use crate::{Engine, Error, MAX_SAVE_ATTEMPTS, Result, random};

/// The days of a calendar feed.
const FEED_BACK: Duration = Duration::from_secs(31 * 86_400);
const FEED_AHEAD: Duration = Duration::from_secs(93 * 86_400);
/// The days of shifts that are shown without a range.
const SHOWN: Duration = Duration::from_secs(28 * 86_400);
/// The times that shifts can be computed for: the years 2000 to 2199.
pub(super) const COMPUTED: Span =
    Span { from: Millis(946_684_800_000), to: Millis(7_258_118_400_000) };
/// How far the next shift is searched for.
const NEXT_SHIFT: Duration = Duration::from_secs(93 * 86_400);

/// The settings of a schedule, complete and valid.
#[derive(Clone, Debug)]
pub struct ScheduleDraft {
    pub name: String,
    pub zone: Zone,
    pub layers: Vec<Layer>,
    pub announce: Handover,
}

/// A schedule as it is shown.
#[derive(Clone, Debug)]
pub struct ScheduleView {
    pub schedule: OnCallSchedule,
    pub has_feed: bool,
}

/// Shifts, the overrides in their range, and the addresses of their users.
#[derive(Clone, Debug)]
pub struct ShiftsView {
    pub shifts: Vec<Shift>,
    pub overrides: Vec<Override>,
    pub emails: HashMap<UserId, String>,
}

/// Who is on call in a schedule.
#[derive(Clone, Debug)]
pub struct OnCallView {
    pub schedule: OnCallSchedule,
    /// The shift at the time; without a user, it is a gap.
    pub now: Shift,
    /// The first shift of somebody else after it, gaps left out.
    pub next: Option<Shift>,
    pub emails: HashMap<UserId, String>,
}

/// A calendar feed.
#[derive(Clone, Debug)]
pub struct CalendarFeed {
    pub text: String,
    /// The same for the same text.
    pub etag: String,
}

impl Engine {
    /// The team's schedules in the order of creation.
    pub async fn schedules(
        &self,
        caller: &Authorized<permission::View>,
    ) -> Result<Vec<ScheduleView>> {
        let stored = self.store().team(caller.team_access()).schedules().await?;
        Ok(stored.into_iter().map(ScheduleView::from).collect())
    }

    /// A schedule with its shifts in a range, by default four weeks from now on.
    pub async fn schedule(
        &self,
        caller: &Authorized<permission::View>,
        id: ScheduleId,
        from: Option<Millis>,
        to: Option<Millis>,
    ) -> Result<(ScheduleView, ShiftsView)> {
        let _turn = self.list_turn(caller).await?;
        let stored = self.stored_schedule(caller, id).await?;
        let from = from.unwrap_or_else(|| self.now());
        let to = to.unwrap_or_else(|| from.after(SHOWN));
        let refused = |field, why: &str| Error::Refused { field, why: why.to_owned() };
        if to <= from || to.since(from) > MAX_RANGE {
            return Err(refused("to", "must be later than from, by at most 93 days"));
        }
        if from < COMPUTED.from || to > COMPUTED.to {
            return Err(refused("from", "must be in the years 2000 to 2199"));
        }
        let team = self.store().team(caller.team_access());
        let mut overrides = team.overrides(Span { from, to }).await?;
        let overrides = overrides.remove(&id).unwrap_or_default();
        let schedule = stored.schedule.clone();
        let shifts = {
            let overrides = overrides.clone();
            blocking(move || schedule.shifts(&overrides, from, to)).await
        };
        let emails = self.emails(caller).await?;
        Ok((stored.into(), ShiftsView { shifts, overrides, emails }))
    }

    /// Who is on call in each schedule at a time.
    pub async fn on_call(
        &self,
        caller: &Authorized<permission::View>,
        at: Option<Millis>,
    ) -> Result<Vec<OnCallView>> {
        let _turn = self.list_turn(caller).await?;
        let at = at.unwrap_or_else(|| self.now());
        if !COMPUTED.contains(at) {
            let why = "must be in the years 2000 to 2199".to_owned();
            return Err(Error::Refused { field: "at", why });
        }
        let team = self.store().team(caller.team_access());
        let stored = team.schedules().await?;
        if stored.is_empty() {
            return Ok(Vec::new());
        }
        let mut overrides = team.overrides(Span { from: at, to: FOREVER }).await?;
        let emails = self.emails(caller).await?;
        Ok(blocking(move || {
            let views = stored.into_iter().map(|stored| {
                let own = overrides.remove(&stored.schedule.id).unwrap_or_default();
                on_call(stored.schedule, &own, at, &emails)
            });
            views.collect()
        })
        .await)
    }

    /// Creates a schedule, or changes the one with this id. `merge` applies the request to the
    /// stored schedule, and is called again if that changed meanwhile.
    pub async fn save_schedule<E: From<Error>>(
        &self,
        caller: &Authorized<permission::Edit>,
        id: Option<ScheduleId>,
        mut merge: impl FnMut(Option<&OnCallSchedule>) -> std::result::Result<ScheduleDraft, E>,
    ) -> std::result::Result<ScheduleView, E> {
        require_all_monitors(caller)?;
        for _ in 0..MAX_SAVE_ATTEMPTS {
            let before = match id {
                Some(id) => Some(self.stored_schedule(caller, id).await?),
                None => None,
            };
            let draft = merge(before.as_ref().map(|stored| &stored.schedule))?;
            if let Some(view) = self.store_schedule(caller, before.as_ref(), draft).await? {
                return Ok(view);
            }
        }
        Err(Error::Conflict.into())
    }

    /// Deletes a schedule that no policy uses.
    pub async fn delete_schedule(
        &self,
        caller: &Authorized<permission::Edit>,
        id: ScheduleId,
    ) -> Result<()> {
        require_all_monitors(caller)?;
        let stored = self.stored_schedule(caller, id).await?;
        let team = self.store().team(caller.team_access());
        match team.delete_schedule(&stored.schedule, self.now(), &self.audit(caller)).await? {
            DeleteLinkedOutcome::Done => Ok(()),
            DeleteLinkedOutcome::Missing => Err(Error::NotFound("schedule")),
            DeleteLinkedOutcome::Linked(by) => Err(Error::ScheduleInUse(by)),
        }
    }

    /// Lets a user take over in a schedule for a while. Local times are in its zone.
    pub async fn add_override(
        &self,
        caller: &Authorized<permission::Respond>,
        id: ScheduleId,
        user: UserId,
        starts: Start,
        ends: Start,
    ) -> Result<OverrideId> {
        let stored = self.stored_schedule(caller, id).await?;
        let now = self.now();
        let zone = &stored.schedule.zone;
        let span = Span { from: starts.instant(zone), to: ends.instant(zone) };
        let refused = |field, why: &str| Error::Refused { field, why: why.to_owned() };
        if span.from < COMPUTED.from || span.to > COMPUTED.to {
            return Err(refused("starts", "must be in the years 2000 to 2199"));
        }
        if span.to <= span.from || span.to.since(span.from) > MAX_RANGE {
            return Err(refused("ends", "must be later than starts, by at most 93 days"));
        }
        if span.to <= now {
            return Err(refused("ends", "must be in the future"));
        }
        let id = OverrideId::new(now, random::bytes());
        let replacement = Override { id, user, span, created: now };
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        match team.add_override(&stored.schedule, &replacement, &by, caller.user()).await? {
            AddOverrideOutcome::Done => Ok(id),
            AddOverrideOutcome::Missing => Err(Error::NotFound("schedule")),
            AddOverrideOutcome::NotMember => Err(refused("userid", "must be a member of the team")),
            AddOverrideOutcome::LimitReached => Err(Error::FixedLimit {
                max: MAX_OVERRIDES as u32,
                of: "future overrides per schedule",
            }),
        }
    }

    pub async fn delete_override(
        &self,
        caller: &Authorized<permission::Respond>,
        id: OverrideId,
    ) -> Result<()> {
        let team = self.store().team(caller.team_access());
        if team.delete_override(id, self.now(), &self.audit(caller)).await? {
            Ok(())
        } else {
            Err(Error::NotFound("override"))
        }
    }

    /// A new URL of the calendar of a schedule; the old one stops working.
    pub async fn new_schedule_feed(
        &self,
        caller: &Authorized<permission::Edit>,
        id: ScheduleId,
    ) -> Result<String> {
        require_all_monitors(caller)?;
        let stored = self.stored_schedule(caller, id).await?;
        let token = feed_token();
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        if !team.set_schedule_feed(&stored.schedule, Digest::of(&token), &by).await? {
            return Err(Error::NotFound("schedule"));
        }
        Ok(feed_url(self.public_url(), &token))
    }

    /// The calendar feed with this token.
    #[expect(clippy::disallowed_methods, reason = "the token gives access to this calendar only")]
    pub async fn calendar_feed(&self, token: &str) -> Result<CalendarFeed> {
        use wakeful_core::access::TeamAccess;

        let missing = || Error::NotFound("calendar");
        let owner = self.store().feed_owner(Digest::of(token)).await?.ok_or_else(missing)?;
        let (team, of) = match owner {
            FeedOwner::Schedule(team, id) => (team, Err(id)),
            FeedOwner::User(team, user) => (team, Ok(user)),
        };
        self.count_attempt(&self.calendar_limit(team)).await?;
        let _turn = self.bulk_turn_of(team).await?;
        let team = self.store().team(&TeamAccess::whole(team));
        let mut schedules = team.schedules().await?;
        if let Err(id) = of {
            schedules.retain(|stored| stored.schedule.id == id);
        }
        // Whole days, so that a feed stays the same for a day.
        let today = Millis(self.now().0.div_euclid(86_400_000) * 86_400_000);
        let range = Span { from: today.before(FEED_BACK), to: today.after(FEED_AHEAD) };
        let mut overrides = team.overrides(range).await?;
        let members = team.members().await?;
        let names: HashMap<UserId, String> = members
            .into_iter()
            .map(|one| (one.user, if one.name.is_empty() { one.email } else { one.name }))
            .collect();
        let name = match (&of, schedules.first()) {
            (Err(_), Some(stored)) => stored.schedule.name.clone(),
            _ => "On call".to_owned(),
        };
        let text = blocking(move || {
            let modified = schedules.iter().map(|one| one.schedule.modified).max();
            let events: Vec<IcalEvent> = schedules
                .iter()
                .flat_map(|stored| {
                    let own = overrides.remove(&stored.schedule.id).unwrap_or_default();
                    events(&stored.schedule, &own, range, of.ok(), &names)
                })
                .collect();
            ical::feed(&name, &events, modified.unwrap_or(today))
        })
        .await;
        let Digest(hash) = Digest::of(&text);
        let etag = format!("\"{}\"", data_encoding::HEXLOWER.encode(&hash[..16]));
        Ok(CalendarFeed { text, etag })
    }

    async fn stored_schedule(&self, caller: &Caller, id: ScheduleId) -> Result<StoredSchedule> {
        let found = self.store().team(caller.team_access()).schedule(id).await?;
        found.ok_or(Error::NotFound("schedule"))
    }

    async fn emails(&self, caller: &Caller) -> Result<HashMap<UserId, String>> {
        let members = self.store().team(caller.team_access()).members().await?;
        Ok(members.into_iter().map(|one| (one.user, one.email)).collect())
    }

    /// `None` if the schedule was changed since it was read.
    async fn store_schedule(
        &self,
        caller: &Caller,
        before: Option<&StoredSchedule>,
        draft: ScheduleDraft,
    ) -> Result<Option<ScheduleView>> {
        let now = self.now();
        let old = before.map(|stored| &stored.schedule);
        let ScheduleDraft { name, zone, layers, announce } = draft;
        let schedule = OnCallSchedule {
            id: old.map_or_else(|| ScheduleId::new(now, random::bytes()), |old| old.id),
            team: caller.team(),
            name,
            zone,
            layers,
            announce,
            created: old.map_or(now, |old| old.created),
            modified: now,
        };
        let has_feed = before.is_some_and(|stored| stored.has_feed);
        if let Some(old) = old
            && *old == (OnCallSchedule { modified: old.modified, ..schedule.clone() })
        {
            return Ok(Some(ScheduleView { schedule: old.clone(), has_feed }));
        }
        let emails = self.emails(caller).await?;
        let mut users = schedule.layers.iter().flat_map(|layer| &layer.users);
        if let Some(user) = users.find(|user| !emails.contains_key(user)) {
            let why = format!("names a user who is not a member of the team: {user}");
            return Err(Error::Refused { field: "layers", why });
        }
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        // The first handover that is announced is the next one.
        let on_call = if schedule.announce.is_empty() {
            None
        } else {
            let mut overrides = team.overrides(Span { from: now, to: Millis(now.0 + 1) }).await?;
            schedule.who(&overrides.remove(&schedule.id).unwrap_or_default(), now)
        };
        let saved = match before {
            Some(before) => team.change_schedule(before, &schedule, on_call, &by).await?,
            None => team.add_schedule(&schedule, on_call, &by).await?,
        };
        match saved {
            SaveScheduleOutcome::Done => Ok(Some(ScheduleView { schedule, has_feed })),
            SaveScheduleOutcome::Conflict => Ok(None),
            SaveScheduleOutcome::LimitReached => {
                Err(Error::FixedLimit { max: MAX_SCHEDULES as u32, of: "schedules per team" })
            }
            SaveScheduleOutcome::UnknownNotifiers(unknown) => Err(unknown_notifiers(&unknown)),
        }
    }
}

impl From<StoredSchedule> for ScheduleView {
    fn from(stored: StoredSchedule) -> Self {
        Self { schedule: stored.schedule, has_feed: stored.has_feed }
    }
}

/// Who is on call at a time, until when, and who is next.
fn on_call(
    schedule: OnCallSchedule,
    overrides: &[Override],
    at: Millis,
    emails: &HashMap<UserId, String>,
) -> OnCallView {
    let shifts = schedule.shifts(overrides, at, at.after(NEXT_SHIFT));
    let user = shifts.first().and_then(Shift::user);
    let same = shifts.iter().take_while(|shift| shift.user() == user);
    let until = same.last().map_or(at, |shift| shift.span.to);
    // The end of the range is not the end of the shift.
    let until = if until == at.after(NEXT_SHIFT) { FOREVER } else { until };
    let now = Shift {
        span: Span { from: at, to: until },
        duty: shifts.first().and_then(|shift| shift.duty),
    };
    let next = shifts.iter().find(|shift| shift.span.from >= until && shift.duty.is_some());
    let next = next.cloned();
    let users = [user, next.as_ref().and_then(Shift::user)];
    let emails = users
        .into_iter()
        .flatten()
        .filter_map(|user| Some((user, emails.get(&user)?.clone())))
        .collect();
    OnCallView { schedule, now, next, emails }
}

/// The shifts of a schedule, or of one user in it, as events of a calendar.
fn events(
    schedule: &OnCallSchedule,
    overrides: &[Override],
    range: Span,
    of: Option<UserId>,
    names: &HashMap<UserId, String>,
) -> Vec<IcalEvent> {
    let mut events: Vec<IcalEvent> = Vec::new();
    for shift in schedule.shifts(overrides, range.from, range.to) {
        let Some(user) = shift.user().filter(|user| of.is_none_or(|of| of == *user)) else {
            continue;
        };
        let name = names.get(&user).map_or("somebody", String::as_str);
        let uid = format!("{}-{}-{}@wakeful", schedule.id, user, shift.span.from.0 / 1_000);
        let summary = format!("{name}: {}", schedule.name);
        events.push(IcalEvent { uid, span: shift.span, summary });
    }
    events
}

/// The token of a calendar feed.
pub(super) fn feed_token() -> String {
    format!("wkc_{}", BASE64URL_NOPAD.encode(&random::bytes::<32>()))
}

pub(super) fn feed_url(public_url: &str, token: &str) -> String {
    format!("{public_url}/api/calendar/{token}.ics")
}

/// Computes shifts without blocking others.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|broken| std::panic::resume_unwind(broken.into_panic()))
}
