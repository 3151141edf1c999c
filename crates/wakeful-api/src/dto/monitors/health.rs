//! When a monitor counts as degraded, and its objective, in requests and responses.

use serde::Serialize;
use utoipa::ToSchema;
use wakeful_core::Invalid;
use wakeful_core::health::Degraded;
use wakeful_core::monitors::Monitor;
use wakeful_core::region::Regions;
use wakeful_core::slo::Slo;

use crate::dto::Fields;
use crate::dto::enums::SloDegraded;

/// When a monitor that is up counts as degraded; `{}` turns it off.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveDegraded {
    /// Milliseconds above which a check is slow; 0 (the default): off.
    #[schema(minimum = 0, maximum = 3600000)]
    slow: Option<u32>,
    /// The multiple of the usual time, the 95th percentile of the last seven days, above which a
    /// check is slow: 1.2 to 20; 0 (the default): off.
    #[schema(minimum = 0, maximum = 20)]
    factor: Option<f64>,
    /// How many of the last `of` checks must be affected; 3 unless set.
    #[schema(minimum = 1, maximum = 32)]
    over: Option<u8>,
    /// 5 unless set.
    #[schema(minimum = 1, maximum = 32)]
    of: Option<u8>,
    /// How many regions must fail although the quorum is not reached; 0: off. 1 unless set if the
    /// monitor has several regions.
    #[schema(minimum = 0, maximum = 32)]
    regions: Option<u8>,
    /// Whether notifications are sent; true unless set.
    notify: Option<bool>,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Degraded)]
pub(crate) struct DegradedBody {
    slow: u32,
    factor: f64,
    over: u8,
    of: u8,
    regions: u8,
    notify: bool,
}

impl DegradedBody {
    pub(crate) fn of(degraded: &Degraded) -> Self {
        let Degraded { slow, over, of, regions, notify, .. } = *degraded;
        Self { slow, factor: degraded.factor(), over, of, regions, notify }
    }
}

/// How much of the time a monitor should be up; `{}` removes it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct SaveSlo {
    /// In percent.
    #[schema(minimum = 90, maximum = 99.999)]
    target: Option<f64>,
    /// 30 unless set.
    #[schema(minimum = 1, maximum = 365)]
    days: Option<u16>,
    /// What degraded time counts as; up unless set.
    #[schema(value_type = Option<SloDegraded>)]
    degraded: (),
}

#[derive(Serialize, ToSchema)]
#[schema(as = Slo)]
pub(crate) struct SloBody {
    target: f64,
    days: u16,
    #[schema(value_type = SloDegraded)]
    degraded: &'static str,
}

impl SloBody {
    pub(crate) fn of(slo: &Slo) -> Self {
        let degraded = if slo.degraded_is_down { "down" } else { "up" };
        Self { target: slo.percent(), days: slo.days, degraded }
    }
}

/// Whether an object was sent, and whether it has any field.
fn sent(fields: &mut Fields, field: &str) -> Option<bool> {
    let object = fields.optional_object(field)?;
    Some(object.as_object().is_some_and(|object| !object.is_empty()))
}

/// What is sent, and otherwise the stored settings. Omitted fields retain their values.
pub(super) fn degraded(
    fields: &mut Fields,
    stored: Option<&Monitor>,
    regions: &Regions,
) -> Option<Box<Degraded>> {
    let old = stored.and_then(|old| old.degraded.as_deref());
    if !sent(fields, "degraded").unwrap_or(old.is_some()) {
        return None;
    }
    let new = Degraded { regions: u8::from(regions.count() > 1), ..Degraded::default() };
    let old = old.cloned().unwrap_or(new);
    fields.within("degraded", |fields| {
        let slow = fields.optional_number("slow", Degraded::parse_slow);
        let factor = fields.optional_decimal("factor", Degraded::parse_factor);
        let over = fields.optional_number("over", Degraded::parse_window);
        let of = fields.optional_number("of", Degraded::parse_window);
        let regions = fields.optional_number("regions", Degraded::parse_regions);
        let notify = fields.optional_flag("notify");
        let (over, of) = (over.unwrap_or(old.over), of.unwrap_or(old.of));
        if over > of {
            fields.refuse("over", "must not be greater than `of`");
        }
        Some(Box::new(Degraded {
            slow: slow.unwrap_or(old.slow),
            factor: factor.unwrap_or(old.factor),
            over,
            of,
            regions: regions.unwrap_or(old.regions),
            notify: notify.unwrap_or(old.notify),
        }))
    })
}

/// What is sent, and otherwise the stored objective.
pub(super) fn slo(fields: &mut Fields, stored: Option<&Monitor>) -> Option<Slo> {
    let old = stored.and_then(|old| old.slo);
    if !sent(fields, "slo").unwrap_or(old.is_some()) {
        return None;
    }
    fields.within("slo", |fields| {
        let target = fields.optional_decimal("target", Slo::parse_target);
        let days = fields.optional_number("days", Slo::parse_days);
        let degraded = fields.optional("degraded", |text| match text.trim() {
            "up" => Ok(false),
            "down" => Ok(true),
            _ => Err(Invalid::new("must be up or down")),
        });
        let target = target.or(old.map(|old| old.target));
        let old = old.or(target.map(Slo::of));
        let target = fields.require("target", target);
        let old = old?;
        Some(Slo {
            target: target?,
            days: days.unwrap_or(old.days),
            degraded_is_down: degraded.unwrap_or(old.degraded_is_down),
        })
    })
}
