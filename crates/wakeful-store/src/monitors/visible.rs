//! The monitor filter of the caller, as a condition of every statement on a team's monitors.

/// Whether a monitor `m` is visible with the filter in this parameter. Without a filter, all
/// monitors are; an empty one matches none.
macro_rules! is_visible {
    ($filter:literal) => {
        concat!(
            "($",
            $filter,
            " is null
              or exists (select 1 from monitor_filter_tags ft
                         join monitor_tags mt on mt.tag = ft.tag
                         where ft.filter_id = $",
            $filter,
            " and mt.monitor_id = m.id)
              or exists (select 1 from monitor_filter_monitors fm
                         where fm.filter_id = $",
            $filter,
            " and fm.monitor_id = m.id))"
        )
    };
}
pub(crate) use is_visible;
