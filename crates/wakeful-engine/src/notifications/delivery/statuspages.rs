//! The messages to subscribers of status pages: a queue of their own, with its own tables, limits
//! and workers, so that a mailing never delays an alert. The service's own mail does not wait
//! for the servers of others either. `page_turns.rs` decides whose messages are sent next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use wakeful_core::backoff::{CRASHED, MAX_CRASHES};
use wakeful_core::error_chain::ErrorChain;
use wakeful_core::id::{IncidentId, NotifierId, StatuspageId, SubscriberId};
use wakeful_core::notifications::notifier::{Channel, EmailSpec};
use wakeful_core::notifications::retry::{self, Outcome};
use wakeful_core::statuspages::Language;
use wakeful_core::statuspages::i18n::fill;
use wakeful_core::statuspages::incident::Incident;
use wakeful_core::statuspages::page::{StatusPage, localized};
use wakeful_core::statuspages::snapshot::PageStatus;
use wakeful_core::statuspages::subscriber::{
    EventType, Subscriber, SubscriberKind, SubscriberSource, SubscriberState,
};
use wakeful_core::time::Millis;
use wakeful_outbound::mail::{Email, MailSession, SendReceipt};
use wakeful_outbound::net::Net;
use wakeful_outbound::notify::email;
use wakeful_outbound::notify::statuspage::{self, News, PageEnvelope, Subscription, sender};
use wakeful_store::{ClaimedMessages, PageQueue};

use super::page_turns::{PageTurns, Places};
use super::survive::{defect, survived};
use crate::due_work::{DueWorkReader, POLL_INTERVAL};
use crate::mail::templates::EmailText;
use crate::suspects::InFlight;
use crate::{Engine, Result, failpoint, random};

/// Twice as long as any attempt may take.
const LEASE: Duration = Duration::from_secs(60);
/// Counting reads all waiting messages.
const COUNT_INTERVAL: Duration = Duration::from_secs(15);
/// What is read at a time: messages of a page, subscribers in total, and pages.
const PAGE_BATCH: u32 = 50;
const BATCH: usize = 200;
const MAX_PAGES_READ: usize = 32;
/// How long a page and its incidents are used for the messages about them.
const CONTENT_LIFETIME: Duration = Duration::from_secs(2);
const MAX_CONTENTS: usize = 100;

/// Delivers until shutdown. Messages in flight then have `shutdown_timeout` to arrive.
pub async fn run(engine: Engine, shutdown: CancellationToken, shutdown_timeout: Duration) {
    let concurrency = engine.settings().page_mail_concurrency;
    let mut mail = Queue::new(PageQueue::Mail, Places::mail(concurrency));
    let mut remote = Queue::new(PageQueue::Remote, Places::REMOTE);
    let contents = Arc::new(Contents::default());
    let mut due_work = DueWorkReader::default();
    let mut next_count = Instant::now();
    while !shutdown.is_cancelled() {
        let started = [
            mail.start(&engine, &contents, &remote.turns.in_flight()).await,
            remote.start(&engine, &contents, &mail.turns.in_flight()).await,
        ];
        for result in started {
            if let Err(error) = result {
                tracing::warn!(error = %ErrorChain(&error), "reading messages to subscribers failed, retrying in {} s", POLL_INTERVAL.as_secs());
            }
        }
        // Other nodes write messages too, without waking this one.
        let due = async {
            loop {
                let due = due_work.next(&engine).await;
                if Instant::now() >= next_count {
                    next_count = Instant::now() + COUNT_INTERVAL;
                    count_waiting(&engine, due.page_messages_waiting).await;
                }
                if due.page_messages {
                    return;
                }
            }
        };
        let has_new = tokio::select! {
            () = mail.next_completion() => false,
            () = remote.next_completion() => false,
            () = engine.0.page_messages.notified() => true,
            () = due => true,
            () = shutdown.cancelled() => false,
        };
        if has_new {
            // Perhaps of a team that had none.
            mail.is_stale = true;
            remote.is_stale = true;
        }
    }
    let drained = async {
        tokio::join!(mail.drain(), remote.drain());
    };
    // What is left is released, and sent after the next start.
    let _ = tokio::time::timeout(shutdown_timeout, drained).await;
}

/// Reports how many messages wait; they are counted only if there are any.
async fn count_waiting(engine: &Engine, are_any: bool) {
    let waiting = if are_any { engine.store().count_waiting_messages().await } else { Ok(0) };
    if let Ok(waiting) = waiting {
        metrics::gauge!("wakeful_statuspage_outbox_pending").set(waiting as f64);
    }
}

/// The messages of one kind of servers.
struct Queue {
    queue: PageQueue,
    turns: PageTurns,
    /// Whether more may be due than what was read.
    is_stale: bool,
    tasks: JoinSet<(SubscriberId, MailSession)>,
    /// Connections to the mail server that no attempt uses now.
    sessions: Vec<MailSession>,
}

impl Queue {
    fn new(queue: PageQueue, places: Places) -> Self {
        let turns = PageTurns::new(places);
        Self { queue, turns, is_stale: true, tasks: JoinSet::new(), sessions: Vec::new() }
    }

    /// Starts as many attempts as there is room for, besides those of the other queue.
    async fn start(
        &mut self,
        engine: &Engine,
        contents: &Arc<Contents>,
        others: &[InFlight],
    ) -> Result<()> {
        if !self.turns.has_place() {
            return Ok(());
        }
        if self.is_stale || !self.turns.has_waiting() {
            self.read(engine).await?;
        }
        while let Some(next) = self.turns.next(others) {
            let (engine, contents) = (engine.clone(), Arc::clone(contents));
            let (queue, mut session) = (self.queue, self.sessions.pop().unwrap_or_default());
            self.tasks.spawn(async move {
                if queue == PageQueue::Mail {
                    engine.wait_for_page_mail().await;
                }
                let sent = attempt(&engine, &contents, next, &mut session);
                if let Err(error) = sent.await {
                    tracing::warn!(subscriber.id = %next, error = %ErrorChain(&error), "sending to subscriber {next} failed, retrying when its lease expires");
                }
                (next, session)
            });
        }
        Ok(())
    }

    /// Reads a part of what is due, some of each team.
    async fn read(&mut self, engine: &Engine) -> Result<()> {
        let (store, now) = (engine.store(), engine.now());
        let due = store.pages_with_due_messages(self.queue, now).await?;
        let order = self.turns.reading_order(due);
        let recipients = self.turns.recipients();
        let mut number = 0;
        for one in order.into_iter().take(MAX_PAGES_READ) {
            let found =
                store.due_subscribers(self.queue, one.page, &recipients, now, PAGE_BATCH).await?;
            number += found.len();
            self.turns.add(one.team, found);
            if number >= BATCH {
                break;
            }
        }
        self.is_stale = false;
        Ok(())
    }

    async fn next_completion(&mut self) {
        match self.tasks.join_next().await {
            Some(ended) => self.settle(ended).await,
            None => std::future::pending().await,
        }
    }

    async fn settle(
        &mut self,
        ended: std::result::Result<(SubscriberId, MailSession), tokio::task::JoinError>,
    ) {
        match ended {
            Ok((subscriber, mut session)) => {
                self.turns.finish(subscriber);
                if self.turns.is_idle() {
                    session.close().await;
                    for session in &mut self.sessions {
                        session.close().await;
                    }
                } else {
                    self.sessions.push(session);
                }
            }
            // It panicked outside of the attempt itself; the rest is found again.
            Err(_) if self.tasks.is_empty() => self.turns.finish_all(),
            Err(_) => {}
        }
    }

    async fn drain(&mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            self.settle(ended).await;
        }
        for session in &mut self.sessions {
            session.close().await;
        }
    }
}

impl Engine {
    /// Waits for the turn of an email to a subscriber.
    async fn wait_for_page_mail(&self) {
        let per_minute = self.settings().page_mails_per_minute;
        if per_minute == 0 {
            return;
        }
        let turn = {
            let mut next = self.0.next_page_mail.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = next.unwrap_or_else(Instant::now).max(Instant::now());
            *next = Some(turn + Duration::from_secs(60) / per_minute);
            turn
        };
        sleep_until(turn).await;
    }

    /// The network for a subscriber: addresses that visitors gave must be public.
    pub(crate) fn net_for(&self, source: SubscriberSource) -> &Net {
        match source {
            SubscriberSource::Visitor => &self.0.public_net,
            SubscriberSource::Team | SubscriberSource::Import => self.net(),
        }
    }

    /// Sends an email of a page through the service's own server, or through that of the page.
    pub(crate) async fn send_page_email(
        &self,
        page: &StatusPage,
        session: &mut MailSession,
        compose: impl FnOnce(&str) -> Email,
        language: Language,
    ) -> Outcome {
        let name = localized(&page.name, &page.settings.texts, "name");
        let name = name.get(language);
        let own = match page.settings.subscribe.sender {
            Some(id) => match self.page_sender(page, id).await {
                Ok(own) => own,
                Err(error) => return Outcome::failed(ErrorChain(&error).to_string()),
            },
            None => None,
        };
        if let Some(spec) = own {
            let email = compose(&sender(name, spec.from_email.as_str()));
            return email::deliver(self.net(), &spec, &email, None).await.outcome;
        }
        let email = compose(&sender(name, &self.settings().mail_from));
        let sent = self.0.mail_transport.send_within(self.net(), session, &email).await;
        match sent {
            Ok(SendReceipt::File(_)) => Outcome::Delivered("written to a file".to_owned()),
            Ok(SendReceipt::Server(reply)) => Outcome::Delivered(reply),
            Err(error) if error.permanent => Outcome::Refused(error.reply.unwrap_or(error.message)),
            Err(error) => Outcome::failed(error.reply.unwrap_or(error.message)),
        }
    }

    async fn page_sender(&self, page: &StatusPage, id: NotifierId) -> Result<Option<EmailSpec>> {
        let found = self.store().notifiers_by_id(&[id]).await?;
        let notifier = found.into_values().find(|one| one.team == page.team);
        Ok(notifier.and_then(|notifier| match notifier.channel {
            Channel::Email(spec) => Some(spec),
            _ => None,
        }))
    }

    /// The status of a page in the words of Statuspage.
    pub(crate) fn page_status(&self, page: StatuspageId) -> (&'static str, &'static str) {
        let served = self.snapshots().by_id(page);
        let status = served.map_or(PageStatus::default(), |served| served.status());
        (status.indicator.as_str(), status.description())
    }
}

/// Sends what a subscriber gets next.
async fn attempt(
    engine: &Engine,
    contents: &Contents,
    subscriber: SubscriberId,
    session: &mut MailSession,
) -> Result<()> {
    let now = engine.now();
    let claimed = engine.store().claim_messages(subscriber, now, now.after(LEASE)).await?;
    let Some(claimed) = claimed else { return Ok(()) };
    failpoint::here("after-claim");
    if claimed.crashes >= MAX_CRASHES {
        tracing::error!(subscriber.id = %subscriber, "sending to subscriber {subscriber} failed: {CRASHED}");
        return give_up(engine, &claimed, CRASHED).await;
    }
    if claimed.subscriber.state != SubscriberState::Active {
        return give_up(engine, &claimed, "it is not active any longer").await;
    }
    let mut incidents: HashMap<IncidentId, Arc<Incident>> = HashMap::new();
    for message in &claimed.messages {
        let incident = contents.incident(engine, message.incident, message.created).await?;
        if let Some(incident) = incident {
            incidents.insert(message.incident, incident);
        }
    }
    let news: Vec<News<'_>> = claimed
        .messages
        .iter()
        .filter_map(|message| {
            let incident = incidents.get(&message.incident).filter(|one| one.is_published())?;
            let update = incident.updates.iter().find(|one| one.id == message.update)?;
            let news = News { kind: message.kind, incident, update, at: message.created };
            // A postmortem may have been withdrawn meanwhile.
            (message.kind != EventType::Postmortem || news.postmortem().is_some()).then_some(news)
        })
        .collect();
    let Some(first) = news.first() else {
        return give_up(engine, &claimed, "the update has been deleted").await;
    };
    failpoint::with("while-sending", &first.incident.title);
    let Some(page) = contents.page(engine, claimed.subscriber.page, first.incident).await? else {
        return give_up(engine, &claimed, "the status page has been deleted").await;
    };
    let sent = survived(send(engine, &page, &claimed, &news, session)).await;
    let outcome = sent.unwrap_or_else(defect);
    failpoint::here("after-send");
    record(engine, &page, &claimed, outcome).await
}

async fn send(
    engine: &Engine,
    page: &StatusPage,
    claimed: &ClaimedMessages,
    news: &[News<'_>],
    session: &mut MailSession,
) -> Outcome {
    let subscriber = &claimed.subscriber;
    let now = engine.now();
    let (url, token) =
        (engine.statuspage_url(page), engine.store().subscriber_token(subscriber.id));
    let unsubscribe = engine.unsubscribe_url(page, &token);
    let (indicator, description) = engine.page_status(page.id);
    let subscription = Subscription {
        page,
        url: &url,
        indicator,
        description,
        subscriber,
        token: &token,
        unsubscribe: &unsubscribe,
    };
    if subscriber.kind != SubscriberKind::Email {
        let net = engine.net_for(subscriber.source);
        return statuspage::post(net, &subscription, claimed.id, &news[0], now).await;
    }
    let compose = |from: &str| {
        let envelope = PageEnvelope {
            id: claimed.id,
            in_reply_to: claimed.in_reply_to,
            from,
            to: &subscriber.recipient.address,
            reply_to: &page.settings.subscribe.reply_to,
            date: now,
        };
        statuspage::email(&subscription, envelope, news)
    };
    engine.send_page_email(page, session, compose, subscriber.settings.language).await
}

async fn record(
    engine: &Engine,
    page: &StatusPage,
    claimed: &ClaimedMessages,
    outcome: Outcome,
) -> Result<()> {
    let (store, now, subscriber) = (engine.store(), engine.now(), &claimed.subscriber);
    let is_email = subscriber.kind == SubscriberKind::Email;
    let answer = outcome.answer().to_owned();
    let (result, has_ended) = match outcome {
        Outcome::Delivered(_) | Outcome::Partial { .. } => {
            store.messages_delivered(claimed, &answer, now).await?;
            ("delivered", false)
        }
        Outcome::Failed(failure) => {
            let jitter = u32::from_ne_bytes(random::bytes());
            match retry::delay(claimed.attempts, &failure, jitter) {
                Some(wait) => {
                    store.messages_failed(claimed, &answer, Some(now.after(wait)), now).await?;
                    ("retried", false)
                }
                // A mail server that is down for long says nothing about an address.
                None if is_email => {
                    store.messages_failed(claimed, &answer, None, now).await?;
                    ("failed", false)
                }
                None => ("failed", store.messages_rejected(claimed, &answer, now).await?),
            }
        }
        Outcome::Refused(_) => ("failed", store.messages_rejected(claimed, &answer, now).await?),
        Outcome::Gone(_) => {
            store.messages_failed(claimed, &answer, None, now).await?;
            store.unsubscribe(subscriber.id, now).await?;
            ("failed", true)
        }
    };
    let labels = [("kind", subscriber.kind.as_str()), ("result", result)];
    metrics::counter!("wakeful_statuspage_deliveries_total", &labels).increment(1);
    if has_ended {
        tracing::info!(subscriber.id = %subscriber.id, "subscriber {} accepts no messages, nothing more is sent to it", subscriber.id);
        if !subscriber.recipient.contact.is_empty() {
            report_end(engine, page, subscriber, &answer).await?;
        }
    }
    Ok(())
}

/// Reports to the owner of a webhook that nothing more is sent to it.
async fn report_end(
    engine: &Engine,
    page: &StatusPage,
    subscriber: &Subscriber,
    answer: &str,
) -> Result<()> {
    let texts = subscriber.settings.language.subscriptions();
    let name = localized(&page.name, &page.settings.texts, "name");
    let values = [
        ("page", name.get(subscriber.settings.language)),
        ("address", &subscriber.recipient.address),
        ("answer", answer),
    ];
    let text = EmailText {
        subject: fill(texts.ended_subject, &values),
        text: fill(texts.ended_email, &values),
    };
    let mail = engine.new_mail(&subscriber.recipient.contact, text);
    engine.store().add_mail(&mail, engine.now()).await?;
    engine.0.mail_queued.notify_one();
    Ok(())
}

async fn give_up(engine: &Engine, claimed: &ClaimedMessages, why: &str) -> Result<()> {
    Ok(engine.store().messages_failed(claimed, why, None, engine.now()).await?)
}

/// Pages and incidents that many messages are about.
#[derive(Default)]
struct Contents {
    pages: Mutex<HashMap<StatuspageId, (Instant, Arc<StatusPage>)>>,
    incidents: Mutex<HashMap<IncidentId, (Instant, Arc<Incident>)>>,
}

impl Contents {
    async fn page(
        &self,
        engine: &Engine,
        id: StatuspageId,
        incident: &Incident,
    ) -> Result<Option<Arc<StatusPage>>> {
        if let Some(known) = known(&self.pages, &id) {
            return Ok(Some(known));
        }
        let read = engine.store().shown_statuspage(id, incident.team).await?;
        Ok(read.map(|stored| remember(&self.pages, id, stored.page)))
    }

    /// The incident as of a time, which may be newer than what is remembered.
    async fn incident(
        &self,
        engine: &Engine,
        id: IncidentId,
        at: Millis,
    ) -> Result<Option<Arc<Incident>>> {
        let is_recent = |one: &Arc<Incident>| one.modified >= at;
        if let Some(known) = known(&self.incidents, &id).filter(is_recent) {
            return Ok(Some(known));
        }
        let read = engine.store().read_incident(id).await?;
        Ok(read.map(|stored| remember(&self.incidents, id, stored.incident)))
    }
}

type Remembered<K, T> = Mutex<HashMap<K, (Instant, Arc<T>)>>;

fn known<K: Eq + std::hash::Hash, T>(all: &Remembered<K, T>, key: &K) -> Option<Arc<T>> {
    let all = all.lock().unwrap_or_else(PoisonError::into_inner);
    let (at, value) = all.get(key)?;
    (at.elapsed() < CONTENT_LIFETIME).then(|| Arc::clone(value))
}

fn remember<K: Eq + std::hash::Hash, T>(all: &Remembered<K, T>, key: K, value: T) -> Arc<T> {
    let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() >= MAX_CONTENTS {
        all.clear();
    }
    let value = Arc::new(value);
    all.insert(key, (Instant::now(), Arc::clone(&value)));
    value
}
