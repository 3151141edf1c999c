//! The management API of Healthchecks, version 3: `/api/v3/`. Only api monitors are visible
//! here, by the UUID in their ping URL. The key is both of our keys, as `wka_…:wke_…`. These
//! URLs are not part of the API's OpenAPI document.

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Map, Value, json};
use uuid::Uuid;
use wakeful_core::access::{Need, permission};
use wakeful_core::alerting::alert::AlertKind;
use wakeful_core::id::MonitorId;
use wakeful_core::monitors::spec::{ApiSpec, Kind, Spec};
use wakeful_core::monitors::{Monitor, Tags};
use wakeful_core::push::{JobSchedule, Slug};
use wakeful_core::time::Millis;
use wakeful_core::verdict::Status;
use wakeful_engine::{AlertQuery, Authorized, Error, LastPing, MonitorQuery, MonitorView};

use crate::app::Api;
use crate::body::{collect, malformed, parse};
use crate::dto::Fields;
use crate::dto::monitors::request;
use crate::dto::monitors::response::ping_url;
use crate::error::{ApiError, FieldError};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const ENC_KEY: HeaderName = HeaderName::from_static("x-enc-key");
/// The fields that `unique` may name.
const UNIQUE: [&str; 5] = ["name", "slug", "tags", "timeout", "grace"];
/// The pings that are listed: all that are stored.
const MAX_PINGS: u32 = 100;
/// The outages that flips are read from.
const MAX_OUTAGES: u32 = 500;

pub(crate) fn routes() -> Router<Api> {
    Router::new().route("/api/v3/{*rest}", any(manage))
}

async fn manage(State(api): State<Api>, request: Request) -> Response {
    match respond(&api, request).await {
        Ok(response) => response,
        Err(error) => refused(error),
    }
}

/// The status and the sentence of an error, in the form of Healthchecks.
fn refused(error: ApiError) -> Response {
    let sentence = error.sentence();
    let (mut parts, _) = error.into_response().into_parts();
    if parts.status == StatusCode::UNPROCESSABLE_ENTITY {
        parts.status = StatusCode::BAD_REQUEST;
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    (parts, Json(json!({"error": sentence}))).into_response()
}

struct Call<'a> {
    api: &'a Api,
    parts: Parts,
    body: Map<String, Value>,
}

async fn respond(api: &Api, request: Request) -> Result<Response, ApiError> {
    let method = request.method().clone();
    let mut call = Call::read(api, request).await?;
    let path = call.parts.uri.path().strip_prefix("/api/v3/").unwrap_or_default().to_owned();
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let (get, post) = (method == Method::GET, method == Method::POST);
    match parts[..] {
        ["status"] if get => Ok("OK".into_response()),
        ["channels"] if get => call.channels().await,
        ["checks"] if get => call.list().await,
        ["checks"] if post => call.create().await,
        ["checks", uuid] if get => call.get(uuid).await,
        ["checks", uuid] if post => call.update(uuid).await,
        ["checks", uuid] if method == Method::DELETE => call.delete(uuid).await,
        ["checks", uuid, "pause"] if post => call.activate(uuid, false).await,
        ["checks", uuid, "resume"] if post => call.activate(uuid, true).await,
        ["checks", uuid, "pings"] if get => call.pings(uuid).await,
        ["checks", uuid, "pings", n, "body"] if get => call.ping_body(uuid, n).await,
        ["checks", uuid, "flips"] if get => call.flips(uuid).await,
        _ => Err(ApiError::not_found("path")),
    }
}

/// Replaces the credentials of a request by both parts of this key. A cookie or a token is not
/// accepted here.
fn use_key(parts: &mut Parts, key: &str) -> Result<(), ApiError> {
    let pair = key
        .split_once(':')
        .map(|(id, secret)| (HeaderValue::from_str(id), HeaderValue::from_str(secret)));
    let Some((Ok(id), Ok(secret))) = pair else { return Err(ApiError::not_authenticated()) };
    for name in [header::AUTHORIZATION, header::COOKIE] {
        parts.headers.remove(name);
    }
    parts.headers.insert(API_KEY, id);
    parts.headers.insert(ENC_KEY, secret);
    Ok(())
}

impl<'a> Call<'a> {
    /// Reads the body, which may contain the key, and splits the key for `Authorized`.
    async fn read(api: &'a Api, request: Request) -> Result<Self, ApiError> {
        let (mut parts, body) = request.into_parts();
        if let Some(key) = parts.headers.get(API_KEY).cloned() {
            // No body is read before that.
            let mut known = parts.clone();
            use_key(&mut known, key.to_str().unwrap_or_default())?;
            Authorized::<permission::Known>::from_request_parts(&mut known, api).await?;
        }
        let whole = Request::from_parts(parts.clone(), body);
        let bytes = collect(whole, api).await?;
        let body: Map<String, Value> = if bytes.iter().all(u8::is_ascii_whitespace) {
            Map::new()
        } else {
            serde_json::from_value(parse(&bytes)?).map_err(|error| malformed(&error))?
        };
        let key = parts.headers.get(API_KEY).and_then(|key| key.to_str().ok());
        let key = key.or_else(|| body.get("api_key")?.as_str()).unwrap_or_default();
        let key = key.to_owned();
        use_key(&mut parts, &key)?;
        Ok(Self { api, parts, body })
    }

    async fn caller<N: Need>(&mut self) -> Result<Authorized<N>, ApiError> {
        Authorized::from_request_parts(&mut self.parts, self.api).await
    }

    fn query(&self) -> Vec<(String, String)> {
        let pairs = url_pairs(self.parts.uri.query().unwrap_or_default());
        pairs.unwrap_or_default()
    }

    async fn channels(&mut self) -> Result<Response, ApiError> {
        let caller = self.caller::<permission::View>().await?;
        let notifiers = self.api.engine().notifiers(&caller).await?;
        let channels: Vec<Value> = notifiers
            .iter()
            .map(|view| {
                let notifier = &view.notifier;
                let kind = notifier.channel.kind().as_str();
                json!({"id": notifier.id, "name": notifier.name.to_string(), "kind": kind})
            })
            .collect();
        Ok(Json(json!({"channels": channels})).into_response())
    }

    /// The api monitors that the caller can see.
    async fn monitors(&mut self) -> Result<Vec<MonitorView>, ApiError> {
        let caller = self.caller::<permission::View>().await?;
        let query = MonitorQuery { kind: Some(Kind::Api), ..MonitorQuery::default() };
        let mut found = self.api.engine().monitors(&caller, &query).await?;
        found.items.retain(|view| !view.unreadable);
        Ok(found.items)
    }

    async fn list(&mut self) -> Result<Response, ApiError> {
        let query = self.query();
        let monitors = self.monitors().await?;
        let caller = self.caller::<permission::View>().await?;
        let pings = self.api.engine().last_pings(&caller).await?;
        let matches = |view: &&MonitorView| {
            query.iter().all(|(name, value)| match name.as_str() {
                "tag" => view.monitor.tags.iter().any(|tag| tag == value),
                "slug" => slug(&view.monitor) == value,
                _ => true,
            })
        };
        let found = monitors.iter().filter(matches);
        let checks: Vec<Value> =
            found.map(|view| check(self.api, view, pings.get(&view.monitor.id))).collect();
        Ok(Json(json!({"checks": checks})).into_response())
    }

    /// The monitor of a ping URL. For a monitor that the caller cannot see, the response is that
    /// for one that does not exist.
    async fn find(&mut self, uuid: &str) -> Result<MonitorView, ApiError> {
        let viewer = self.caller::<permission::View>().await?;
        let not_found = || ApiError::not_found("check");
        let uuid = Uuid::try_parse(uuid).map_err(|_| not_found())?;
        let target = self.api.engine().ping_target(uuid).await?.ok_or_else(not_found)?;
        match self.api.engine().monitor(&viewer, target.id()).await {
            Err(Error::NotFound(_)) => Err(not_found()),
            found => Ok(found?),
        }
    }

    async fn get(&mut self, uuid: &str) -> Result<Response, ApiError> {
        let view = self.find(uuid).await?;
        self.show(StatusCode::OK, &view).await
    }

    async fn show(&mut self, status: StatusCode, view: &MonitorView) -> Result<Response, ApiError> {
        let caller = self.caller::<permission::View>().await?;
        let last = self.api.engine().last_ping(&caller, view.monitor.id).await?;
        let shown = check(self.api, view, last.as_ref());
        Ok((status, Json(shown)).into_response())
    }

    async fn create(&mut self) -> Result<Response, ApiError> {
        let unique = self.unique()?;
        if unique.is_empty() {
            return self.save(None, StatusCode::CREATED).await;
        }
        let caller = self.caller::<permission::Edit>().await?;
        let _turn = self.api.engine().unique_turn(&caller).await?;
        let monitors = self.monitors().await?;
        // What the request does not name is not the same as anything.
        let is_same = |view: &&MonitorView| {
            let shown = settings(&view.monitor);
            let is_equal = |name: &&str| {
                self.body.get(*name).is_some_and(|wanted| Some(wanted) == shown.get(*name))
            };
            unique.iter().all(is_equal)
        };
        match monitors.iter().find(is_same).map(|found| found.monitor.id) {
            Some(id) => self.save(Some(id), StatusCode::OK).await,
            None => self.save(None, StatusCode::CREATED).await,
        }
    }

    /// The fields by which the monitor to create may exist already.
    fn unique(&self) -> Result<Vec<&'static str>, ApiError> {
        let invalid = || {
            let names = UNIQUE.join(", ");
            let message = format!("must be a list of these names: {names}");
            ApiError::fields(vec![FieldError { field: "unique".into(), message }])
        };
        let names = match self.body.get("unique") {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(names)) => names,
            Some(_) => return Err(invalid()),
        };
        let known = |name: &Value| UNIQUE.iter().copied().find(|known| name == *known);
        names.iter().map(|name| known(name).ok_or_else(invalid)).collect()
    }

    async fn update(&mut self, uuid: &str) -> Result<Response, ApiError> {
        let id = self.find(uuid).await?.monitor.id;
        self.save(Some(id), StatusCode::OK).await
    }

    async fn save(
        &mut self,
        id: Option<MonitorId>,
        done: StatusCode,
    ) -> Result<Response, ApiError> {
        let caller = self.caller::<permission::Edit>().await?;
        let every_notifier = match self.body.get("channels").and_then(Value::as_str) {
            Some("*") => {
                let viewer = self.caller::<permission::View>().await?;
                let all = self.api.engine().notifiers(&viewer).await?;
                all.iter().map(|view| view.notifier.id.to_string()).collect()
            }
            _ => Vec::new(),
        };
        let fields = self.fields(&every_notifier, id.is_none());
        let merge = |stored: Option<&Monitor>| {
            let mut fields = Fields::of(Value::Object(fields.clone()))?;
            let draft = request::draft(&mut fields, stored);
            fields.finish(draft)
        };
        let view = self.api.engine().save_monitor(&caller, id, None, merge).await?;
        self.show(done, &view).await
    }

    /// The fields of our own API that those of Healthchecks correspond to.
    fn fields(&self, every_notifier: &[String], is_new: bool) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut own = Map::new();
        if is_new {
            let defaults = json!({"type": "api", "name": "job", "heartbeat_interval": 86_400,
                "grace": 3_600, "isactive": true, "upside_down_mode": false, "notifiers": []});
            fields.extend(defaults.as_object().cloned().unwrap_or_default());
        }
        for (name, value) in self.body.iter().filter(|(_, value)| !value.is_null()) {
            let text = value.as_str().unwrap_or_default();
            match name.as_str() {
                "name" if !text.is_empty() => drop(fields.insert("name".into(), value.clone())),
                "desc" => drop(fields.insert("description".into(), value.clone())),
                "grace" => drop(fields.insert("grace".into(), value.clone())),
                "tags" => {
                    let tags: Vec<&str> = text.split_whitespace().collect();
                    fields.insert("tags".into(), json!(tags));
                }
                "timeout" => {
                    fields.insert("heartbeat_interval".into(), value.clone());
                    // A timeout ends a schedule, unless both are sent.
                    if !self.body.contains_key("schedule") {
                        own.insert("schedule".into(), json!(""));
                    }
                }
                "schedule" | "tz" | "slug" => drop(own.insert(name.clone(), value.clone())),
                "methods" => drop(own.insert("post_only".into(), json!(text == "POST"))),
                "start_kw" | "success_kw" | "failure_kw" => {
                    let keywords = own.entry("keywords").or_insert_with(|| json!({}));
                    keywords[name.trim_end_matches("_kw")] = value.clone();
                }
                "channels" => {
                    let named = text.split(',').map(|id| id.trim().to_owned());
                    let ids: Vec<String> =
                        if text == "*" { every_notifier.to_vec() } else { named.collect() };
                    fields.insert("notifiers".into(), json!(ids));
                }
                _ => {}
            }
        }
        if !own.is_empty() {
            fields.insert("api".into(), Value::Object(own));
        }
        fields
    }

    async fn activate(&mut self, uuid: &str, isactive: bool) -> Result<Response, ApiError> {
        let id = self.find(uuid).await?.monitor.id;
        let caller = self.caller::<permission::Edit>().await?;
        let merge = |stored: Option<&Monitor>| {
            let mut fields = Fields::of(json!({"isactive": isactive}))?;
            let draft = request::draft(&mut fields, stored);
            fields.finish(draft)
        };
        let view = self.api.engine().save_monitor(&caller, Some(id), None, merge).await?;
        self.show(StatusCode::OK, &view).await
    }

    async fn delete(&mut self, uuid: &str) -> Result<Response, ApiError> {
        let view = self.find(uuid).await?;
        let caller = self.caller::<permission::Edit>().await?;
        self.api.engine().delete_monitor(&caller, view.monitor.id).await?;
        Ok(Json(check(self.api, &view, None)).into_response())
    }

    async fn pings(&mut self, uuid: &str) -> Result<Response, ApiError> {
        let id = self.find(uuid).await?.monitor.id;
        let caller = self.caller::<permission::View>().await?;
        let found = self.api.engine().pings(&caller, id, MAX_PINGS, None).await?;
        let base = format!("{}/api/v3/checks/{uuid}/pings", self.api.engine().public_url());
        let pings: Vec<Value> = found
            .iter()
            .map(|ping| {
                let mut shown = json!({"type": ping.kind.as_str(), "date": ping.at, "n": ping.n,
                    "scheme": ping.scheme, "remote_addr": ping.client, "method": ping.method,
                    "ua": ping.agent, "rid": ping.rid,
                    "duration": ping.duration.map(|span| span.as_secs_f64()), "body_url": null});
                if ping.bytes > 0 {
                    shown["body_url"] = json!(format!("{base}/{}/body", ping.n));
                }
                shown
            })
            .collect();
        Ok(Json(json!({"pings": pings})).into_response())
    }

    async fn ping_body(&mut self, uuid: &str, n: &str) -> Result<Response, ApiError> {
        let id = self.find(uuid).await?.monitor.id;
        let caller = self.caller::<permission::Edit>().await?;
        let n = n.parse().map_err(|_| ApiError::not_found("ping"))?;
        let body = self.api.engine().ping_body(&caller, id, n).await?;
        let text = String::from_utf8_lossy(&body).into_owned();
        Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response())
    }

    /// Each beginning and end of an outage, newest first.
    async fn flips(&mut self, uuid: &str) -> Result<Response, ApiError> {
        let id = self.find(uuid).await?.monitor.id;
        let caller = self.caller::<permission::View>().await?;
        let query = self.query();
        let number = |wanted: &str| {
            let found = query.iter().find(|(name, _)| name == wanted);
            found.and_then(|(_, value)| value.parse::<i64>().ok())
        };
        let seconds =
            number("seconds").map(|span| (self.api.engine().now().0 / 1_000).saturating_sub(span));
        let from = number("start").or(seconds).unwrap_or(0).saturating_mul(1_000);
        let to = number("end").map_or(i64::MAX, |end| end.saturating_mul(1_000));
        let outages = AlertQuery {
            monitor: Some(id),
            kind: Some(AlertKind::Outage),
            ..AlertQuery::default()
        };
        let engine = self.api.engine();
        let outages = engine.matching_alerts(&caller, &outages, None, Some(MAX_OUTAGES)).await?;
        let mut flips: Vec<(Millis, u8)> = Vec::new();
        for outage in &outages.items {
            flips.push((outage.alert.started, 0));
            flips.extend(outage.alert.ended.map(|ended| (ended, 1)));
        }
        flips.retain(|(at, _)| (from..=to).contains(&at.0));
        flips.sort_by_key(|(at, _)| std::cmp::Reverse(at.0));
        let flips: Vec<Value> =
            flips.into_iter().map(|(at, up)| json!({"timestamp": at, "up": up})).collect();
        Ok(Json(json!(flips)).into_response())
    }
}

fn url_pairs(query: &str) -> Option<Vec<(String, String)>> {
    let uri = format!("/?{query}").parse().ok()?;
    let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri).ok()?;
    Some(pairs.0)
}

fn api_spec(monitor: &Monitor) -> Option<&ApiSpec> {
    match &monitor.spec {
        Spec::Api(api) => Some(api),
        _ => None,
    }
}

fn slug(monitor: &Monitor) -> &str {
    api_spec(monitor).and_then(|api| api.slug.as_ref()).map_or("", Slug::as_str)
}

/// The settings of a check, as they are sent.
fn settings(monitor: &Monitor) -> Map<String, Value> {
    let api = api_spec(monitor);
    let schedule = api.and_then(|api| api.schedule.as_deref());
    let tags: Vec<&str> = Tags::iter(&monitor.tags).collect();
    let post_only = api.is_some_and(|api| api.post_only);
    let channels: Vec<String> = monitor.notifiers.iter().map(ToString::to_string).collect();
    let mut shown = json!({
        "name": monitor.name.to_string(), "slug": slug(monitor), "tags": tags.join(" "),
        "desc": monitor.description.as_str(), "grace": monitor.grace().as_secs(),
        "methods": if post_only { "POST" } else { "" }, "manual_resume": true,
        "channels": channels.join(","),
        "start_kw": api.map_or("", |api| api.keywords.start.as_str()),
        "success_kw": api.map_or("", |api| api.keywords.success.as_str()),
        "failure_kw": api.map_or("", |api| api.keywords.failure.as_str()),
    });
    match schedule {
        Some(schedule) => {
            shown["schedule"] = json!(JobSchedule::text(schedule));
            shown["tz"] = json!(schedule.zone().name());
        }
        None => shown["timeout"] = json!(monitor.heartbeat_interval.seconds()),
    }
    shown.as_object().cloned().unwrap_or_default()
}

/// A monitor in the form of a check.
fn check(api: &Api, view: &MonitorView, last: Option<&LastPing>) -> Value {
    let MonitorView { monitor, state, .. } = view;
    let now = api.engine().now();
    let schedule = api_spec(monitor).and_then(|api| api.schedule.as_deref());
    let next = state.last_check.filter(|_| monitor.isactive).and_then(|last| match schedule {
        Some(schedule) => schedule.expected(last),
        None => Some(last.after(monitor.heartbeat_interval.duration())),
    });
    let status = match state.status {
        _ if !monitor.isactive => "paused",
        Status::Pending => "new",
        Status::Down => "down",
        Status::Up if next.is_some_and(|next| next < now) => "grace",
        Status::Up => "up",
    };
    // A run of a paused monitor is not waited for.
    let is_running = monitor.isactive && state.push.as_ref().is_some_and(|push| push.is_running());
    let mut shown = settings(monitor);
    let public_url = api.engine().public_url();
    shown.extend([
        ("status".to_owned(), json!(status)),
        ("started".to_owned(), json!(is_running)),
        ("n_pings".to_owned(), json!(last.map_or(0, |last| last.n))),
        ("last_ping".to_owned(), json!(last.map(|last| last.at))),
        ("next_ping".to_owned(), json!(next)),
    ]);
    if let Some(uuid) = &monitor.ping_uuid {
        let update = format!("{public_url}/api/v3/checks/{}", uuid.expose());
        shown.extend([
            ("uuid".to_owned(), json!(uuid.expose())),
            ("ping_url".to_owned(), json!(ping_url(public_url, uuid))),
            ("pause_url".to_owned(), json!(format!("{update}/pause"))),
            ("resume_url".to_owned(), json!(format!("{update}/resume"))),
            ("update_url".to_owned(), json!(update)),
        ]);
    }
    Value::Object(shown)
}
