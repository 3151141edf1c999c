//! Reports of an Alertmanager: the monitor is down while a group of its alerts is firing.

use wakeful_core::access::TeamAccess;
use wakeful_core::verdict::Report;
use wakeful_store::{FiringGroups, MAX_FIRING_GROUPS, ReportedGroup};

use super::PushTarget;
use crate::{Engine, Error, Result};

/// How often the groups are read again if others report at the same time; they do the same.
const MAX_ROUNDS: usize = 5;

impl Engine {
    /// Records that a group is firing or no longer is, as a report of the monitor.
    #[expect(clippy::disallowed_methods, reason = "the push URL is of this monitor")]
    pub async fn report_group(&self, target: PushTarget, group: &ReportedGroup) -> Result<()> {
        let PushTarget { team, id } = target;
        match self.load_active(&TeamAccess::whole(team), id).await {
            // The push URL must not reveal more than that it does not work.
            Err(Error::Inactive) => return Err(Error::NotFound("monitor")),
            loaded => loaded?,
        };
        let changed = self.store().report_group(id, group, self.now()).await?;
        let mut groups = changed.ok_or_else(|| Error::Refused {
            field: "groupKey",
            why: format!("is refused: {MAX_FIRING_GROUPS} groups are firing already"),
        })?;
        // Of two reports, the one that is processed last must be the one that was written last:
        // if another was written meanwhile, what it changed is reported again.
        for _ in 0..MAX_ROUNDS {
            self.report_by_push_token(target, report(&groups)).await?;
            let now = self.store().firing_groups(id).await?;
            if now == groups {
                break;
            }
            groups = now;
        }
        Ok(())
    }
}

fn report(groups: &FiringGroups) -> Report {
    let FiringGroups { count, names } = groups;
    let up = *count == 0;
    let message = match count.saturating_sub(names.len()) {
        _ if up => "no alerts are firing".to_owned(),
        0 => format!("firing: {}", names.join("; ")),
        more => format!("firing: {}; and {more} more", names.join("; ")),
    };
    Report { up, degraded: false, message: String::new(), load_time: None }.with_message(&message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_groups_that_are_firing() {
        let of = |count, names: &[&str]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect();
            let Report { up, message, .. } = report(&FiringGroups { count, names });
            (up, message)
        };
        assert_eq!(of(0, &[]), (true, "no alerts are firing".to_owned()));
        assert_eq!(of(2, &["A", "B"]), (false, "firing: A; B".to_owned()));
        assert_eq!(of(7, &["A", "B"]), (false, "firing: A; B; and 5 more".to_owned()));
    }
}
