//! The entries that a decision about an alert adds to its timeline.

use serde::Serialize;
use std::collections::HashMap;
use wakeful_core::alerting::step::Note;
use wakeful_core::id::{AlertEventId, AlertId};
use wakeful_core::time::Millis;
use wakeful_core::token::Digest;

use super::crowded::CrowdedQueues;
use super::decisions::AlertDecision;
use super::due::DueAlert;
use crate::dialect::{Tx, either, within};
use crate::history::record::SimpleUuid;
use crate::monitors::json;
use crate::{Result, Store};

#[derive(Serialize)]
struct NoteRow<'a> {
    id: SimpleUuid,
    team: SimpleUuid,
    alert: SimpleUuid,
    at: i64,
    kind: &'a str,
    user: Option<SimpleUuid>,
    via: &'a str,
    text: &'a str,
    data: Option<String>,
}

impl Store {
    pub(super) async fn write_notes(
        &self,
        tx: &mut Tx,
        decisions: &[&AlertDecision],
        crowded: &CrowdedQueues,
        now: Millis,
    ) -> Result<()> {
        let not_sent: HashMap<AlertId, Note> = crowded.notes();
        let rows: Vec<NoteRow<'_>> = decisions
            .iter()
            .flat_map(|one| {
                let notes = one.notes.iter().chain(not_sent.get(&one.alert.id));
                notes.enumerate().map(|(at, note)| (*one, at, note))
            })
            .map(|(decision, at, note)| NoteRow::of(decision, at, note, now))
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        within!(*tx, |db| {
            sqlx::query(self.insert_notes()).bind(json(&rows)).execute(db).await?;
        });
        Ok(())
    }

    fn insert_notes(&self) -> &'static str {
        either!(
            self,
            sqlite: "insert into alert_events
                 (id, team_id, alert_id, at, kind, user_id, via, text, data)
                 select unhex(value ->> 'id'), unhex(value ->> 'team'), unhex(value ->> 'alert'),
                        value ->> 'at', value ->> 'kind', unhex(value ->> 'user'),
                        value ->> 'via', value ->> 'text', value ->> 'data'
                 from json_each($1)
                 where true
                 on conflict do nothing",
            postgres: "insert into alert_events
                 (id, team_id, alert_id, at, kind, user_id, via, text, data)
                 select r.id, r.team, r.alert, r.at, r.kind, r.\"user\", r.via, r.text, r.data
                 from json_to_recordset(cast($1 as json))
                      as r(id uuid, team uuid, alert uuid, at bigint, kind text, \"user\" uuid,
                           via text, text text, data text)
                 on conflict do nothing"
        )
    }
}

impl<'a> NoteRow<'a> {
    /// `at` is its place among the notes of the decision.
    fn of(decision: &AlertDecision, at: usize, note: &'a Note, now: Millis) -> Self {
        let DueAlert { id: alert, team, revision, .. } = &decision.alert;
        let Digest(hash) = Digest::of(&format!("note {alert} {revision} {at}"));
        let mut random = [0; 10];
        random.copy_from_slice(&hash[..10]);
        // Entries of the same millisecond stay in order.
        random[0] = u8::try_from(at).unwrap_or(u8::MAX);
        // The name of a user is that of the account.
        let named = note.user.is_none() && !note.name.is_empty();
        Self {
            id: AlertEventId::new(now, random).uuid().into(),
            team: team.uuid().into(),
            alert: alert.uuid().into(),
            at: now.0,
            kind: note.kind.as_str(),
            user: note.user.map(|user| user.uuid().into()),
            via: &note.via,
            text: &note.text,
            data: named.then(|| serde_json::json!({"name": note.name}).to_string()),
        }
    }
}
