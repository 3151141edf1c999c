//! Operations on the on-call schedules of a team, and their calendar feeds.

use data_encoding::BASE64URL_NOPAD;
use std::collections::HashMap;
use std::net::IpAddr;
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
/// About the most shifts of all users that are computed for a feed, and the most steps that it
/// takes. A team with more sees the next ones.
const MAX_FEED_SHIFTS: usize = 20_000;
const MAX_FEED_STEPS: usize = 300_000;
const MAX_FEED_EVENTS: usize = 4_000;
/// Shifts are computed for this time first, and for longer times only as far as needed.
const FIRST_PART: Duration = Duration::from_secs(86_400);
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
        let _turn = self.on_call_turn(caller).await?;
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
        let overrides = team.schedule_overrides(id, Span { from, to }).await?;
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
        let _turn = self.on_call_turn(caller).await?;
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
        let mut overrides = team.overrides(Span { from: at, to: at.after(NEXT_SHIFT) }).await?;
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
    pub async fn calendar_feed(&self, token: &str, client: IpAddr) -> Result<CalendarFeed> {
        use wakeful_core::access::TeamAccess;

        let missing = || Error::NotFound("calendar");
        let turn = self.lookup_turn(client).await?;
        let owner = self.store().feed_owner(Digest::of(token)).await?.ok_or_else(missing)?;
        drop(turn);
        let (team, of) = match owner {
            FeedOwner::Schedule(team, id) => (team, Err(id)),
            FeedOwner::User(team, user) => (team, Ok(user)),
        };
        self.count_attempt(&self.calendar_limit(team)).await?;
        let _turn = self.calendar_turn(team).await?;
        let team = self.store().team(&TeamAccess::whole(team));
        let mut schedules = team.schedules().await?;
        if let Err(id) = of {
            schedules.retain(|stored| stored.schedule.id == id);
        }
        // Whole days, so that a feed stays the same for a day.
        let today = Millis(self.now().0.div_euclid(86_400_000) * 86_400_000);
        let range = Span { from: today.before(FEED_BACK), to: today.after(FEED_AHEAD) };
        let mut overrides = match of {
            Err(id) => HashMap::from([(id, team.schedule_overrides(id, range).await?)]),
            Ok(_) => team.overrides(range).await?,
        };
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
            let schedules: Vec<(OnCallSchedule, Vec<Override>)> = schedules
                .into_iter()
                .map(|StoredSchedule { schedule, .. }| {
                    let own = overrides.remove(&schedule.id).unwrap_or_default();
                    (schedule, own)
                })
                .collect();
            let shifts = feed_shifts(&schedules, range, today);
            let events: Vec<IcalEvent> = schedules
                .iter()
                .zip(&shifts)
                .flat_map(|((schedule, _), shifts)| events(schedule, shifts, of.ok(), &names))
                .collect();
            let events = next_events(events, today);
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
            return Err(unknown_user(*user));
        }
        let team = self.store().team(caller.team_access());
        let by = self.audit(caller);
        // The first handover that is announced is the next one.
        let on_call = if schedule.announce.is_empty() {
            None
        } else {
            let soon = Span { from: now, to: Millis(now.0 + 1) };
            schedule.who(&team.schedule_overrides(schedule.id, soon).await?, now)
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
            // The user has left the team meanwhile.
            SaveScheduleOutcome::UnknownUser(user) => Err(unknown_user(user)),
        }
    }
}

fn unknown_user(user: UserId) -> Error {
    let why = format!("names a user who is not a member of the team: {user}");
    Error::Refused { field: "layers", why }
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
    let end = at.after(NEXT_SHIFT);
    let (mut shifts, mut to, mut length) = (Vec::new(), at, FIRST_PART);
    let (user, until) = loop {
        let from = to;
        to = from.after(length).min(end);
        append(&mut shifts, schedule.shifts(overrides, from, to));
        let user = shifts.first().and_then(Shift::user);
        let same = shifts.iter().take_while(|shift| shift.user() == user);
        let until = same.last().map_or(at, |shift| shift.span.to);
        // The last shift may last longer than the range.
        let last = shifts.iter().map(|shift| shift.span.from).max().unwrap_or(at);
        let is_next =
            |shift: &Shift| (until..last).contains(&shift.span.from) && shift.duty.is_some();
        if to >= end || shifts.iter().any(is_next) {
            break (user, until);
        }
        length *= 4;
    };
    // The end of the range is not the end of the shift.
    let until = if until == end { FOREVER } else { until };
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

/// The shifts of each schedule in a range: first those from today on, part by part, then the
/// earlier ones, until there are too many or they took too many steps.
fn feed_shifts(
    schedules: &[(OnCallSchedule, Vec<Override>)],
    range: Span,
    today: Millis,
) -> Vec<Vec<Shift>> {
    let mut found: Vec<Vec<Shift>> = vec![Vec::new(); schedules.len()];
    let (mut count, mut steps) = (0, 0);
    let (mut from, mut length) = (today, FIRST_PART);
    while from < range.to && count < MAX_FEED_SHIFTS && steps < MAX_FEED_STEPS {
        let to = from.after(length).min(range.to);
        for ((schedule, overrides), found) in schedules.iter().zip(&mut found) {
            let (shifts, taken) = schedule.shifts_and_steps(overrides, from, to);
            count += shifts.len();
            steps += taken;
            append(found, shifts);
        }
        (from, length) = (to, length * 2);
    }
    let (mut to, mut length) = (today, FIRST_PART);
    while to > range.from && count < MAX_FEED_SHIFTS && steps < MAX_FEED_STEPS {
        let from = to.before(length).max(range.from);
        for ((schedule, overrides), found) in schedules.iter().zip(&mut found) {
            let (mut shifts, taken) = schedule.shifts_and_steps(overrides, from, to);
            count += shifts.len();
            steps += taken;
            append(&mut shifts, std::mem::take(found));
            *found = shifts;
        }
        (to, length) = (from, length * 2);
    }
    found
}

/// If there are too many events, the next ones.
fn next_events(mut events: Vec<IcalEvent>, today: Millis) -> Vec<IcalEvent> {
    if events.len() > MAX_FEED_EVENTS {
        let distance = |span: &Span| span.from.0.abs_diff(today.0);
        events.sort_by_key(|event| (event.span.to <= today, distance(&event.span)));
        events.truncate(MAX_FEED_EVENTS);
    }
    events
}

/// Adds shifts that begin where the others end.
fn append(shifts: &mut Vec<Shift>, more: Vec<Shift>) {
    let mut more = more.into_iter().peekable();
    if let (Some(last), Some(first)) = (shifts.last_mut(), more.peek())
        && last.duty == first.duty
    {
        last.span.to = first.span.to;
        more.next();
    }
    shifts.extend(more);
}

/// The shifts of a schedule, or of one user in it, as events of a calendar.
fn events(
    schedule: &OnCallSchedule,
    shifts: &[Shift],
    of: Option<UserId>,
    names: &HashMap<UserId, String>,
) -> Vec<IcalEvent> {
    let mut events: Vec<IcalEvent> = Vec::new();
    for shift in shifts {
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

#[cfg(test)]
mod tests {
    use super::*;
    use wakeful_core::calendar::hours::DailyHours;
    use wakeful_core::id::TeamId;
    use wakeful_core::oncall::{Unit, parse_local};

    const TODAY: Millis = Millis(1_780_272_000_000);
    const RANGE: Span =
        Span { from: Millis(TODAY.0 - 31 * 86_400_000), to: Millis(TODAY.0 + 93 * 86_400_000) };

    /// With layers of so many hours a day each.
    fn schedule(layers: u8, hours: usize) -> (OnCallSchedule, Vec<Override>) {
        let layer = |number: u8| {
            let user = UserId::new(Millis(0), [number; 10]);
            let hours: Vec<DailyHours> = (0..hours)
                .map(|hour| {
                    let text = format!(
                        r#"{{"from":"{:02}:{:02}","to":"{:02}:{:02}"}}"#,
                        3 * hour,
                        number,
                        3 * hour + 1,
                        number + 20
                    );
                    serde_json::from_str(&text).expect("hours")
                })
                .collect();
            let starts = parse_local("2026-01-05T09:00").expect("a time");
            Layer::new(String::new(), vec![user], starts, 1, Unit::Day, hours).expect("a layer")
        };
        let schedule = OnCallSchedule {
            id: ScheduleId::new(Millis(0), [1; 10]),
            team: TeamId::new(Millis(0), [1; 10]),
            name: "Ops".into(),
            zone: Zone::utc(),
            layers: (1..=layers).map(layer).collect(),
            announce: Handover::default(),
            created: TODAY,
            modified: TODAY,
        };
        (schedule, Vec::new())
    }

    #[test]
    fn a_feed_in_parts_is_that_of_the_whole_range() {
        let one = schedule(2, 2);
        let whole = one.0.shifts(&one.1, RANGE.from, RANGE.to);
        assert_eq!(feed_shifts(&[one], RANGE, TODAY), [whole]);
    }

    #[test]
    fn a_feed_of_very_many_shifts_is_bounded_and_begins_today() {
        let many: Vec<_> = (0..50).map(|_| schedule(10, 7)).collect();
        let shifts = feed_shifts(&many, RANGE, TODAY);
        let count: usize = shifts.iter().map(Vec::len).sum();
        assert!((MAX_FEED_SHIFTS..3 * MAX_FEED_SHIFTS).contains(&count), "{count}");
        assert!(shifts.iter().all(|shifts| shifts[0].span.from == TODAY));
        let all = many.iter().zip(&shifts);
        let events =
            all.flat_map(|((schedule, _), shifts)| events(schedule, shifts, None, &HashMap::new()));
        let events = next_events(events.collect(), TODAY);
        assert_eq!(events.len(), MAX_FEED_EVENTS);
        assert!(events.iter().all(|event| event.span.from < TODAY.after(2 * FIRST_PART)));
    }

    #[test]
    fn a_feed_that_takes_many_steps_is_bounded_and_begins_today() {
        let noon: DailyHours =
            serde_json::from_str(r#"{"from":"12:00","to":"12:01"}"#).expect("hours");
        // Each of them has one shift a day.
        let busy = || {
            let (mut one, overrides) = schedule(10, 0);
            for layer in &mut one.layers {
                layer.hours = vec![noon.clone(); 14];
            }
            (one, overrides)
        };
        let one = busy();
        let whole = one.0.shifts(&one.1, RANGE.from, RANGE.to);
        assert_eq!(feed_shifts(&[one], RANGE, TODAY), [whole]);
        let many: Vec<_> = (0..50).map(|_| busy()).collect();
        let shifts = feed_shifts(&many, RANGE, TODAY);
        let count: usize = shifts.iter().map(Vec::len).sum();
        assert!(count < MAX_FEED_SHIFTS, "{count}");
        for shifts in &shifts {
            assert_eq!(shifts[0].span.from, TODAY);
            let end = shifts[shifts.len() - 1].span.to;
            assert!(TODAY.after(7 * FIRST_PART) <= end && end < RANGE.to, "{end}");
        }
    }

    #[test]
    fn the_next_shift_is_found_in_parts() {
        for (layers, hours) in [(1, 1), (2, 2), (3, 0), (10, 7)] {
            for hour in 0..30 {
                let at = Millis(TODAY.0 + hour * 3_600_000);
                let (schedule, mut overrides) = schedule(layers, hours);
                // Of the day before, of the next week, and of one at the end of the range.
                for day in [-1, 6, 89].into_iter().filter(|_| hour % 2 == 1) {
                    let from = Millis(TODAY.0 + day * 86_400_000 + 5 * 3_600_000);
                    overrides.push(Override {
                        id: OverrideId::new(from, [1; 10]),
                        user: UserId::new(Millis(0), [9; 10]),
                        span: Span { from, to: from.after(FIRST_PART) },
                        created: TODAY,
                    });
                }
                let whole = schedule.shifts(&overrides, at, at.after(NEXT_SHIFT));
                let view = on_call(schedule, &overrides, at, &HashMap::new());
                let user = whole[0].user();
                let until = whole.iter().find(|shift| shift.user() != user);
                let until = until.map_or(FOREVER, |shift| shift.span.from);
                assert_eq!(view.now.span.to, until, "{layers} {hours} {hour}");
                let next =
                    whole.iter().find(|shift| shift.span.from >= until && shift.duty.is_some());
                assert_eq!(view.next.as_ref(), next, "{layers} {hours} {hour}");
            }
        }
    }
}
