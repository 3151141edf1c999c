//! On-call schedules as they are saved and returned. When a stored schedule is changed, omitted
//! fields retain their values.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::calendar::zone::Zone;
use wakeful_core::calendar::{FOREVER, Start};
use wakeful_core::id::{NotifierId, OverrideId, ScheduleId, UserId};
use wakeful_core::monitors::Name;
use wakeful_core::oncall::{
    DutySource, Handover, Layer, MAX_LAYERS, OnCallSchedule, Override, Shift, Unit, local_text,
    parse_local,
};
use wakeful_core::time::Millis;
use wakeful_engine::{OnCallView, ScheduleDraft, ScheduleView, ShiftsView};

use super::enums::TurnUnit;
use super::fields::{Fields, FromFields};
use super::hours::{HoursBody, SaveHours, hours};
use super::monitors::request::{TextOrList, notifiers};
use super::policies::number;

/// The most notifiers of an announcement.
const MAX_ANNOUNCED: usize = 20;

/// An on-call schedule to create (without `scheduleid`) or to change.
#[derive(ToSchema)]
#[schema(as = SaveSchedule)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveSchedule {
    scheduleid: Option<String>,
    /// Required for a new schedule.
    #[schema(min_length = 1, max_length = 255)]
    name: Option<String>,
    /// The time zone of handovers and hours. Required for a new schedule.
    time_zone: Option<String>,
    /// Later layers take precedence. Required for a new schedule.
    #[schema(max_items = 10)]
    layers: Option<Vec<SaveLayer>>,
    announce: Option<SaveHandover>,
}

/// Users who take turns.
#[derive(ToSchema)]
#[schema(as = SaveLayer)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveLayer {
    #[schema(max_length = 255)]
    name: Option<String>,
    /// The ids of members of the team, in the order of their turns; at most 50.
    users: TextOrList,
    /// The local time of the first handover, such as 2026-01-05T09:00, and of all others.
    starts: String,
    /// How many units a turn lasts. Default: 1.
    #[schema(minimum = 1, maximum = 52)]
    every: Option<u32>,
    /// Default: week.
    #[schema(value_type = Option<TurnUnit>)]
    unit: (),
    /// Limits the layer to these hours; omitted or empty: always.
    #[schema(max_items = 14)]
    hours: Option<Vec<SaveHours>>,
}

/// Who is notified when somebody else is on call.
#[derive(ToSchema)]
#[schema(as = SaveHandover)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveHandover {
    /// The ids of notifiers, at most 20.
    notifiers: Option<TextOrList>,
    /// The two people themselves.
    people: Option<bool>,
}

/// The stored schedule with the sent fields applied; `None` if some are invalid.
pub(crate) fn draft(fields: &mut Fields, stored: Option<&OnCallSchedule>) -> Option<ScheduleDraft> {
    let name = fields.optional("name", Name::parse).map(|name| name.to_string());
    let name = name.or_else(|| stored.map(|old| old.name.clone()));
    let name = fields.require("name", name);
    let zone = fields.optional("time_zone", Zone::parse);
    let zone = zone.or_else(|| stored.map(|old| old.zone.clone()));
    let zone = fields.require("time_zone", zone);
    let layers = fields.optional_objects("layers", MAX_LAYERS, layer);
    let layers = if fields.has("layers") { layers } else { stored.map(|old| old.layers.clone()) };
    let layers = fields.require("layers", layers);
    let old = stored.map(|old| old.announce.clone()).unwrap_or_default();
    let announce = fields.within("announce", |fields| Handover {
        notifiers: notifiers(fields, "notifiers", MAX_ANNOUNCED).unwrap_or(old.notifiers),
        people: fields.optional_flag("people").unwrap_or(old.people),
    });
    Some(ScheduleDraft { name: name?, zone: zone?, layers: layers?, announce })
}

fn layer(fields: &mut Fields) -> Option<Layer> {
    let name = fields.optional_short_text("name", Name::MAX_LENGTH).unwrap_or_default();
    let users = fields.optional_items("users", Some("userid"));
    let users = users.and_then(|users| {
        let users = users.iter().map(|user| user.trim()).filter(|user| !user.is_empty());
        let users: Option<Vec<UserId>> = users.map(UserId::parse).collect();
        fields.accept("users", users.ok_or_else(|| Invalid::new("must be members of the team")))
    });
    let users = fields.require("users", users);
    let starts = fields.parse("starts", parse_local);
    let every = number(fields, "every", 1, wakeful_core::oncall::MAX_EVERY);
    let unit = fields.optional("unit", Unit::parse).unwrap_or_default();
    let is_sent = fields.has("hours");
    let hours = hours(fields, "hours");
    if is_sent && hours.is_none() {
        return None;
    }
    let layer =
        Layer::new(name, users?, starts?, every.unwrap_or(1), unit, hours.unwrap_or_default());
    match layer {
        Ok(layer) => Some(layer),
        Err((field, Invalid(why))) => {
            fields.refuse(field, why);
            None
        }
    }
}

/// Lets a user take over for a while.
#[derive(ToSchema)]
pub(crate) struct SaveOverride {
    /// A member of the team.
    #[schema(value_type = String)]
    pub(crate) userid: UserId,
    /// A local time in the zone of the schedule, or a time with an offset or Z.
    #[schema(value_type = String)]
    pub(crate) starts: Start,
    /// At most 93 days later.
    #[schema(value_type = String)]
    pub(crate) ends: Start,
}

impl FromFields for SaveOverride {
    fn read(fields: &mut Fields) -> Option<Self> {
        let userid = fields.parse("userid", |text| {
            UserId::parse(text).ok_or_else(|| Invalid::new("must be a member of the team"))
        });
        let starts = fields.parse("starts", Start::parse);
        let ends = fields.parse("ends", Start::parse);
        Some(Self { userid: userid?, starts: starts?, ends: ends? })
    }
}

/// An on-call schedule.
#[derive(Serialize, ToSchema)]
#[schema(as = Schedule)]
pub(crate) struct ScheduleBody {
    #[schema(value_type = String, format = Uuid)]
    scheduleid: ScheduleId,
    name: String,
    time_zone: String,
    /// Later layers take precedence.
    layers: Vec<LayerBody>,
    announce: HandoverBody,
    /// Whether its calendar has a URL.
    feed: bool,
    #[schema(value_type = String, format = DateTime)]
    created: Millis,
    #[schema(value_type = String, format = DateTime)]
    modified: Millis,
}

/// Users who take turns.
#[derive(Serialize, ToSchema)]
#[schema(as = Layer)]
struct LayerBody {
    name: String,
    #[schema(value_type = Vec<String>)]
    users: Vec<UserId>,
    /// The local time of the first handover, and of all others.
    starts: String,
    /// How many units a turn lasts.
    every: u32,
    #[schema(value_type = TurnUnit)]
    unit: &'static str,
    /// Empty: always.
    hours: Vec<HoursBody>,
}

/// Who is notified when somebody else is on call.
#[derive(Serialize, ToSchema)]
#[schema(as = Handover)]
struct HandoverBody {
    #[schema(value_type = Vec<String>)]
    notifiers: Vec<NotifierId>,
    people: bool,
}

impl ScheduleBody {
    pub(crate) fn of(view: ScheduleView) -> Self {
        let ScheduleView { schedule, has_feed } = view;
        let layers = schedule.layers.into_iter().map(|layer| LayerBody {
            name: layer.name,
            users: layer.users,
            starts: local_text(layer.starts),
            every: layer.every,
            unit: layer.unit.as_str(),
            hours: layer.hours.iter().map(HoursBody::of).collect(),
        });
        Self {
            scheduleid: schedule.id,
            name: schedule.name,
            time_zone: schedule.zone.name().to_owned(),
            layers: layers.collect(),
            announce: HandoverBody {
                notifiers: schedule.announce.notifiers,
                people: schedule.announce.people,
            },
            feed: has_feed,
            created: schedule.created,
            modified: schedule.modified,
        }
    }
}

/// A time in which the same user is on call.
#[derive(Serialize, ToSchema)]
#[schema(as = Shift)]
pub(crate) struct ShiftBody {
    #[schema(value_type = String, format = DateTime)]
    from: Millis,
    #[schema(value_type = String, format = DateTime)]
    to: Millis,
    /// Null: nobody is on call.
    #[schema(value_type = Option<String>, format = Uuid)]
    userid: Option<UserId>,
    email: Option<String>,
    /// The place of the layer, from 0; null for an override or a gap.
    layer: Option<usize>,
    /// The id of the override; null for a layer or a gap.
    #[schema(value_type = Option<String>, format = Uuid)]
    r#override: Option<OverrideId>,
}

/// Somebody who takes over for a while.
#[derive(Serialize, ToSchema)]
#[schema(as = Override)]
pub(crate) struct OverrideBody {
    #[schema(value_type = String, format = Uuid)]
    overrideid: OverrideId,
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    email: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    starts: Millis,
    #[schema(value_type = String, format = DateTime)]
    ends: Millis,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ScheduleList {
    pub(crate) success: bool,
    pub(crate) schedules: Vec<ScheduleBody>,
    /// Only with `limit`: the cursor of the next page; null on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<Option<String>>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ScheduleAnswer {
    success: bool,
    message: &'static str,
    schedule: ScheduleBody,
}

impl ScheduleAnswer {
    pub(crate) fn of(message: &'static str, view: ScheduleView) -> Self {
        Self { success: true, message, schedule: ScheduleBody::of(view) }
    }
}

/// A schedule with its shifts.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScheduleWhole {
    success: bool,
    schedule: ScheduleBody,
    /// Without a gap between them: a time in which nobody is on call is a shift without a user.
    shifts: Vec<ShiftBody>,
    /// Those in the same range.
    overrides: Vec<OverrideBody>,
}

impl ScheduleWhole {
    pub(crate) fn of(view: ScheduleView, shifts: ShiftsView) -> Self {
        let ShiftsView { shifts, overrides, emails } = shifts;
        let email = |user: UserId| emails.get(&user).cloned();
        let shifts = shifts.into_iter().map(|shift| {
            let Shift { span, duty } = shift;
            let (layer, r#override) = match duty.map(|duty| duty.by) {
                Some(DutySource::Layer(place)) => (Some(place), None),
                Some(DutySource::Override(id)) => (None, Some(id)),
                None => (None, None),
            };
            let userid = duty.map(|duty| duty.user);
            let email = userid.and_then(email);
            ShiftBody { from: span.from, to: span.to, userid, email, layer, r#override }
        });
        let overrides = overrides.into_iter().map(|one| {
            let Override { id, user, span, .. } = one;
            OverrideBody {
                overrideid: id,
                userid: user,
                email: email(user),
                starts: span.from,
                ends: span.to,
            }
        });
        let (shifts, overrides) = (shifts.collect(), overrides.collect());
        Self { success: true, schedule: ScheduleBody::of(view), shifts, overrides }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct OverrideAnswer {
    success: bool,
    message: &'static str,
    #[schema(value_type = String, format = Uuid)]
    overrideid: OverrideId,
}

impl OverrideAnswer {
    pub(crate) fn of(overrideid: OverrideId) -> Self {
        Self { success: true, message: "Override saved.", overrideid }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct OnCallList {
    success: bool,
    oncall: Vec<OnCallBody>,
}

/// Who is on call in a schedule.
#[derive(Serialize, ToSchema)]
#[schema(as = OnCall)]
struct OnCallBody {
    #[schema(value_type = String, format = Uuid)]
    scheduleid: ScheduleId,
    name: String,
    /// Null: nobody is on call.
    now: Option<OnCallUser>,
    /// When that changes; null if it does not in the next 93 days.
    #[schema(value_type = Option<String>, format = DateTime)]
    until: Option<Millis>,
    /// Who is next; null if nobody is in the next 93 days.
    next: Option<NextOnCall>,
    /// Whether nobody is on call.
    gap: bool,
}

/// A user on call.
#[derive(Serialize, ToSchema)]
struct OnCallUser {
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    email: Option<String>,
}

/// The user who is on call next.
#[derive(Serialize, ToSchema)]
struct NextOnCall {
    #[schema(value_type = String, format = Uuid)]
    userid: UserId,
    email: Option<String>,
    #[schema(value_type = String, format = DateTime)]
    from: Millis,
}

impl OnCallList {
    pub(crate) fn of(views: Vec<OnCallView>) -> Self {
        let oncall = views.into_iter().map(|view| {
            let OnCallView { schedule, now, next, emails } = view;
            let email = |user: UserId| emails.get(&user).cloned();
            let user = now.user();
            let until = now.span.to;
            OnCallBody {
                scheduleid: schedule.id,
                name: schedule.name,
                now: user.map(|userid| OnCallUser { userid, email: email(userid) }),
                until: (until != FOREVER).then_some(until),
                next: next.and_then(|next| {
                    let userid = next.user()?;
                    Some(NextOnCall { userid, email: email(userid), from: next.span.from })
                }),
                gap: user.is_none(),
            }
        });
        Self { success: true, oncall: oncall.collect() }
    }
}
