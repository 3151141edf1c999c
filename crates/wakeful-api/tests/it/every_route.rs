//! Tests over every operation of the OpenAPI document, so that no route can be
//! forgotten: protected operations respond with 401 before anything is read, and an id of
//! another team gets the same response as an id that does not exist.

use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use wakeful_core::time::Clock as _;
use wakeful_testkit::fakes::FakePush;
use wakeful_testkit::{Answer, App, Client, PASSWORD, Receiver, User, both_databases, until};

use crate::monitor_filters;
use crate::payment_methods::card;

pub(crate) const UNKNOWN: &str = "01997b1e-0000-7000-8000-000000000000";

/// All operations that need no credentials.
const PUBLIC: &[&str] = &[
    "GET /api/action/{token}",
    "POST /api/action/{token}",
    "POST /api/action/{token}/call",
    "POST /api/action/{token}/pushover",
    "GET /api/calendar/{file}",
    "DELETE /api/push/{token}",
    "GET /api/push/{token}",
    "PATCH /api/push/{token}",
    "POST /api/push/{token}",
    "PUT /api/push/{token}",
    "POST /api/push/{token}/alertmanager",
    "GET /api/v1/session",
    "POST /api/v1/authenticated",
    "POST /api/v1/contactus",
    "POST /api/v1/email/verify",
    "POST /api/v1/invitation/accept",
    "POST /api/v1/invitation/read",
    "POST /api/v1/login",
    "POST /api/v1/password/lost",
    "POST /api/v1/password/update",
    "POST /api/v1/payment/callback/stripe",
    "POST /api/v1/signup",
];

pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) protected: bool,
    /// The permission it needs, or `public`.
    pub(crate) permission: String,
    /// Which sessions must be fresh; empty if any session will do.
    pub(crate) reauthentication: String,
    /// Parameters and fields that take an id, by their names.
    ids: Vec<String>,
}

impl Operation {
    pub(crate) fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The path with an id for each parameter.
    pub(crate) fn path_with(&self, id: &str) -> String {
        let parts = self.path.split('/');
        let parts = parts.map(|part| if part.starts_with('{') { id } else { part });
        parts.collect::<Vec<_>>().join("/")
    }
}

pub(crate) fn operations() -> Vec<Operation> {
    let document = serde_json::to_value(wakeful_api::document()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let mut names = BTreeSet::new();
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                names.insert(parameter["name"].as_str().unwrap().to_owned());
            }
            field_names(&document, &operation["requestBody"], &mut names);
            let is_id = |name: &String| {
                let name = name.to_lowercase();
                // It names the client of another service.
                name != "client_id" && (name.ends_with("id") || name.ends_with("ids"))
            };
            let extension = |name: &str| operation[name].as_str().unwrap_or_default().to_owned();
            operations.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                protected: operation["security"].as_array().is_some_and(|any| !any.is_empty()),
                permission: extension("x-wakeful-permission"),
                reauthentication: extension("x-wakeful-reauthentication"),
                ids: names.into_iter().filter(is_id).collect(),
            });
        }
    }
    assert!(operations.len() >= 23, "the document lost its operations");
    operations
}

/// The names of all fields in a schema, through references and nesting.
fn field_names(document: &Value, schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
                let target = document.pointer(reference.trim_start_matches('#')).unwrap();
                field_names(document, target, names);
            }
            if let Some(properties) = fields.get("properties").and_then(Value::as_object) {
                names.extend(properties.keys().cloned());
            }
            fields.values().for_each(|value| field_names(document, value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| field_names(document, item, names)),
        _ => {}
    }
}

#[test]
fn only_the_listed_operations_are_public() {
    let public: BTreeSet<String> =
        operations().iter().filter(|operation| !operation.protected).map(Operation::name).collect();
    let named: BTreeSet<String> = PUBLIC.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(public, named);
}

both_databases! {
    async fn every_protected_operation_is_401_before_anything_is_read(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let keys = ann.new_keys(&app.anonymous()).await;
        let anonymous = app.anonymous();
        let rubbish = "wk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
        let callers = [
            anonymous.clone(),
            anonymous.with_token(rubbish),
            anonymous.with("authorization", &format!("Basic {}", ann.token)),
            anonymous.with("cookie", &format!("token={}", ann.token)),
            anonymous.with("x-api-key", &keys.apikey),
            anonymous.with_keys(&keys.apikey, "wke_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
            anonymous.with_keys("wka_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", &keys.enckey),
        ];
        let expected = anonymous.get("users/me").await;
        expected.refused(401, "not_authenticated");
        for operation in operations().iter().filter(|operation| operation.protected) {
            for id in [UNKNOWN, &ann.userid, &keys.id, "rubbish"] {
                let path = operation.path_with(id);
                for caller in &callers {
                    for (kind, body) in [(None, ""), (Some("text/plain"), "{"), (Some("application/json"), "{")] {
                        let answer = caller.raw(operation.method.clone(), &path, kind, body).await;
                        assert_eq!(answer.shape(), expected.shape(), "{}", operation.name());
                    }
                }
                if !operation.path.contains('{') {
                    break;
                }
            }
        }
        assert!(ann.client.is_authenticated().await);
        assert!(keys.client.is_authenticated().await);
    }

    async fn public_operations_need_no_credentials(setup: Setup) {
        let app = setup.start().await;
        for operation in operations().iter().filter(|operation| !operation.protected) {
            let path = operation.path_with(UNKNOWN);
            let answer = app.anonymous().call(operation.method.clone(), &path, Some(&json!({}))).await;
            let expected = match operation.path.as_str() {
                "/api/push/{token}" | "/api/push/{token}/alertmanager" => 404,
                "/api/calendar/{file}" | "/api/action/{token}/call" => 404,
                "/api/action/{token}" if operation.method == Method::GET => 404,
                "/api/v1/payment/callback/stripe" => 400,
                "/api/v1/session" => 200,
                _ => 422,
            };
            assert_eq!(answer.status, expected, "{}: {}", operation.name(), answer.text);
        }
    }
}

/// A team with one object of each kind that has an id.
struct Team {
    user: User,
    apikeyid: String,
    serviceid: String,
    invitationid: String,
    streamid: String,
    /// A session other than the caller's.
    sessionid: String,
    monitorid: String,
    /// A monitor that has a push URL.
    push_monitorid: String,
    maintenanceid: String,
    policyid: String,
    scheduleid: String,
    overrideid: String,
    pageid: String,
    componentid: String,
    incidentid: String,
    templateid: String,
    subscriptionid: String,
    notifierid: String,
    /// The notifier of that monitor.
    used_notifierid: String,
    deliveryid: String,
    /// The outage of the push monitor.
    alertid: String,
    methodid: String,
    reset: String,
    /// Receives the messages of the notifiers.
    _receiver: Receiver,
}

impl Team {
    async fn make(app: &App, email: &str) -> Self {
        let user = app.sign_up(email).await;
        let apikeyid = user.new_keys(&app.anonymous()).await.id;
        let service = json!({"name": "deploy", "role": "editor"});
        let serviceid = text(&user.client.post("service/save", &service).await.ok()["serviceid"]);
        let invitation = json!({"email": "invited@example.com", "role": "viewer", "mail": false});
        let invitation = user.client.post("invitation/save", &invitation).await.ok();
        let invitationid = text(&invitation["invitationid"]);
        let sessionid = Self::second_session(app, &user).await;
        let saved = user.client.post("monitor/save", &monitor(None)).await.ok();
        let monitorid = text(&saved["monitor"]["monitorid"]);
        let receiver = Receiver::start().await;
        let hook = webhook(None, &receiver.url);
        let notifierid = text(&user.client.post("notifier/save", &hook).await.json()["notifierid"]);
        let window = json!({"name": "window", "tags": "none", "starts": "2026-11-15T09:00:00Z",
            "duration": 86400});
        let window = user.client.post("maintenance/save", &window).await.ok();
        let maintenanceid = text(&window["maintenance"]["maintenanceid"]);
        let policy = json!({"name": "policy", "steps": [{"notify": [{"everybody": true}]}]});
        let policy = user.client.post("policy/save", &policy).await.ok();
        let policyid = text(&policy["policy"]["policyid"]);
        let schedule = json!({"name": "schedule", "time_zone": "UTC", "layers": []});
        let schedule = user.client.post("schedule/save", &schedule).await.ok();
        let scheduleid = text(&schedule["schedule"]["scheduleid"]);
        let replacement = json!({"userid": user.userid, "starts": "2026-11-16T00:00",
            "ends": "2026-11-17T00:00"});
        let path = format!("schedule/{scheduleid}/override");
        let overrideid = text(&user.client.post(&path, &replacement).await.ok()["overrideid"]);
        // Each team has a name of its own: only some pages of one name get a generated slug.
        let page = json!({"name": user.email, "sections": [{"components": [{"name": "API"}]}]});
        let page = user.client.post("statuspage/save", &page).await.ok();
        let pageid = text(&page["statuspage"]["pageid"]);
        let component = &page["statuspage"]["sections"][0]["components"][0];
        let componentid = text(&component["componentid"]);
        let incident = json!({"title": "down", "update": {"body": "We are looking into it."},
            "components": [{"componentid": componentid}]});
        let incident = user.client.post("incident/save", &incident).await.ok();
        let incidentid = text(&incident["incident"]["incidentid"]);
        let template = json!({"name": "outage", "title": "Outage", "body": "{{ components }}"});
        let template = user.client.post("incidenttemplate/save", &template).await.ok();
        let templateid = text(&template["incidenttemplate"]["templateid"]);
        let browser = FakePush::start(app.clock.now()).await.subscribe("phone");
        let browser = user.client.post("webpush/subscribe", &browser).await.ok();
        let subscriptionid = text(&browser["subscriptionid"]);
        let stream = json!({"url": receiver.url});
        let streamid = text(&user.client.post("audit/stream/save", &stream).await.ok()["streamid"]);
        let (push_monitorid, used_notifierid, deliveryid) = Self::deliver(&user, &hook).await;
        let list = user.client.get("alerts").await.ok();
        let alertid = text(&list["alerts"][0]["alertid"]);
        let saved = user.client.post("paymentmethod/save", &card("4242424242424242")).await.ok();
        let methodid = text(&saved["methodid"]);
        let reset = app.request_password_reset(&user, 0).await;
        let _receiver = receiver;
        Self {
            user,
            apikeyid,
            serviceid,
            invitationid,
            streamid,
            sessionid,
            monitorid,
            push_monitorid,
            maintenanceid,
            policyid,
            scheduleid,
            overrideid,
            pageid,
            componentid,
            incidentid,
            templateid,
            subscriptionid,
            notifierid,
            used_notifierid,
            deliveryid,
            alertid,
            methodid,
            reset,
            _receiver,
        }
    }

    async fn second_session(app: &App, user: &User) -> String {
        user.log_in(&app.anonymous()).await;
        let list = user.client.get("sessions").await.ok();
        let mut sessions = list["sessions"].as_array().unwrap().iter();
        text(&sessions.find(|session| session["current"] == false).unwrap()["sessionid"])
    }

    /// A push monitor and the delivery of its outage, by another notifier.
    async fn deliver(user: &User, hook: &Value) -> (String, String, String) {
        let notifier = user.client.post("notifier/save", hook).await.json();
        let body = json!({"type": "api", "name": "job", "heartbeat_interval": 86400,
            "isactive": true, "upside_down_mode": false, "notifiers": notifier["notifierid"]});
        let saved = user.client.post("monitor/save", &body).await.ok();
        let monitorid = text(&saved["monitor"]["monitorid"]);
        let notify = format!("monitor/notify/{monitorid}");
        user.client.post(&notify, &json!({"status": "down"})).await.ok();
        let path = format!("notifier/{}/deliveries", text(&notifier["notifierid"]));
        let deliveryid = until("a delivery", async || {
            let list = user.client.get(&path).await.ok();
            list["deliveries"].get(0).map(|delivery| text(&delivery["deliveryid"]))
        })
        .await;
        (monitorid, text(&notifier["notifierid"]), deliveryid)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

fn webhook(notifierid: Option<&str>, url: &str) -> Value {
    json!({"notifierid": notifierid, "name": "hook", "type": "webhook", "webhook": {"url": url}})
}

/// A monitor of a local port that is closed.
fn monitor(monitorid: Option<&str>) -> Value {
    json!({"monitorid": monitorid, "type": "tcp", "name": monitorid.map_or("port", |_| "changed"), "hostname": "127.0.0.1", "port": "1",
        "heartbeat_interval": 60, "isactive": true, "upside_down_mode": false})
}

/// How to send an id to an operation: which of the team's ids, an id that does not
/// exist, and the body.
struct Row {
    operation: &'static str,
    takes: &'static str,
    id: fn(&Team) -> &str,
    unknown: &'static str,
    body: fn(&str) -> Value,
    status: u16,
}

const fn of_user(operation: &'static str, takes: &'static str) -> Row {
    Row { operation, takes, id: |team| &team.user.userid, ..of_monitor("") }
}

const fn of_notifier(operation: &'static str) -> Row {
    Row { operation, takes: "notifierid", id: |team| &team.notifierid, ..of_monitor("") }
}

const fn of_service(operation: &'static str) -> Row {
    Row { operation, takes: "serviceid", id: |team| &team.serviceid, ..of_monitor("") }
}

const fn of_invitation(operation: &'static str) -> Row {
    Row { operation, takes: "invitationid", id: |team| &team.invitationid, ..of_monitor("") }
}

const fn of_stream(operation: &'static str) -> Row {
    Row {
        operation,
        takes: "streamid",
        id: |team| &team.streamid,
        body: |id| json!({"streamid": id}),
        ..of_monitor("")
    }
}

const fn of_maintenance(operation: &'static str) -> Row {
    Row { operation, takes: "maintenanceid", id: |team| &team.maintenanceid, ..of_monitor("") }
}

const fn of_policy(operation: &'static str) -> Row {
    Row { operation, takes: "policyid", id: |team| &team.policyid, ..of_monitor("") }
}

const fn of_schedule(operation: &'static str) -> Row {
    Row { operation, takes: "scheduleid", id: |team| &team.scheduleid, ..of_monitor("") }
}

const fn of_page(operation: &'static str) -> Row {
    Row { operation, takes: "pageid", id: |team| &team.pageid, ..of_monitor("") }
}

const fn of_incident(operation: &'static str) -> Row {
    Row { operation, takes: "incidentid", id: |team| &team.incidentid, ..of_monitor("") }
}

const fn of_method(operation: &'static str) -> Row {
    Row {
        operation,
        takes: "methodid",
        id: |team| &team.methodid,
        body: |id| json!({"methodid": id}),
        ..of_monitor("")
    }
}

const fn of_alert(operation: &'static str) -> Row {
    Row {
        operation,
        takes: "alertid",
        id: |team| &team.alertid,
        body: |_| json!({}),
        ..of_monitor("")
    }
}

/// Alerts of other teams are skipped.
const fn of_alerts(operation: &'static str) -> Row {
    Row {
        takes: "alertids",
        body: |id| json!({"alertids": [id]}),
        status: 200,
        ..of_alert(operation)
    }
}

const fn of_monitor(operation: &'static str) -> Row {
    Row {
        operation,
        takes: "monitorid",
        id: |team| &team.monitorid,
        unknown: UNKNOWN,
        body: |_| Value::Null,
        status: 404,
    }
}

/// Every operation that takes an id. The test below fails until a new operation is added
/// here.
const ROWS: &[Row] = &[
    Row {
        body: |id| json!({"userid": id, "email": "x@example.com", "password1": PASSWORD, "password2": PASSWORD}),
        ..of_user("POST /api/v1/team/save", "userid")
    },
    Row { body: |id| json!({"userids": [id]}), ..of_user("POST /api/v1/team/revoke", "userids") },
    Row { body: |id| json!({"userids": [id]}), ..of_user("POST /api/v1/team/delete", "userids") },
    Row { body: |id| json!({"userid": id}), ..of_user("POST /api/v1/member/save", "userid") },
    Row { body: |id| json!({"userid": id}), ..of_user("POST /api/v1/member/mfareset", "userid") },
    Row {
        operation: "DELETE /api/v1/integrations/apikey/{apikeyid}/delete",
        takes: "apikeyid",
        id: |team| &team.apikeyid,
        ..of_monitor("")
    },
    Row {
        operation: "POST /api/v1/integrations/apikey/save",
        takes: "apikeyid",
        id: |team| &team.apikeyid,
        body: |id| json!({"apikeyid": id, "name": "x"}),
        ..of_monitor("")
    },
    Row {
        operation: "DELETE /api/v1/team/key/{apikeyid}/delete",
        takes: "apikeyid",
        id: |team| &team.apikeyid,
        ..of_monitor("")
    },
    Row {
        body: |id| json!({"serviceid": id, "name": "x"}),
        ..of_service("POST /api/v1/service/save")
    },
    Row {
        body: |_| json!({"name": "x"}),
        ..of_service("POST /api/v1/service/{serviceid}/key/save")
    },
    of_service("DELETE /api/v1/service/{serviceid}/delete"),
    Row {
        body: |id| json!({"invitationid": id, "mail": false}),
        ..of_invitation("POST /api/v1/invitation/save")
    },
    of_invitation("DELETE /api/v1/invitation/{invitationid}/delete"),
    Row {
        operation: "POST /api/v1/team/switch",
        takes: "groupid",
        id: |team| &team.user.team,
        body: |id| json!({"groupid": id}),
        ..of_monitor("")
    },
    Row {
        body: |id| json!({"streamid": id, "isactive": false}),
        ..of_stream("POST /api/v1/audit/stream/save")
    },
    of_stream("POST /api/v1/audit/stream/test"),
    Row { body: |_| Value::Null, ..of_stream("DELETE /api/v1/audit/stream/{streamid}/delete") },
    Row {
        operation: "DELETE /api/v1/session/{sessionid}/delete",
        takes: "sessionid",
        id: |team| &team.sessionid,
        ..of_monitor("")
    },
    of_monitor("GET /api/v1/monitor/{monitorid}/get"),
    of_monitor("DELETE /api/v1/monitor/{monitorid}/delete"),
    Row {
        takes: "monitorid policyid",
        body: |id| monitor(Some(id)),
        ..of_monitor("POST /api/v1/monitor/save")
    },
    Row {
        body: |_| json!({"status": "up"}),
        ..of_monitor("POST /api/v1/monitor/notify/{monitorid}")
    },
    of_monitor("POST /api/v1/monitor/{monitorid}/check"),
    of_monitor("POST /api/v1/monitor/{monitorid}/accept"),
    Row {
        id: |team| &team.push_monitorid,
        ..of_monitor("POST /api/v1/monitor/{monitorid}/push/rotate")
    },
    Row {
        takes: "monitorid policyid",
        body: |id| monitor(Some(id)),
        ..of_monitor("POST /api/v1/monitor/try")
    },
    Row {
        takes: "ids",
        body: |id| json!({"ids": [id], "isactive": false}),
        ..of_monitor("POST /api/v1/monitors/change")
    },
    Row {
        takes: "ids",
        body: |id| json!({"ids": [id]}),
        ..of_monitor("POST /api/v1/monitors/delete")
    },
    of_monitor("GET /api/v1/monitor/{monitorid}/heartbeats"),
    of_monitor("GET /api/v1/monitor/{monitorid}/stats"),
    of_monitor("GET /api/v1/monitor/{monitorid}/series"),
    // Ids of other teams are ignored.
    Row { takes: "ids", status: 200, ..of_monitor("GET /api/v1/monitors/summary") },
    of_monitor("GET /api/v1/monitor/{monitorid}/alerts"),
    of_monitor("GET /api/v1/monitor/{monitorid}/evidence"),
    of_monitor("GET /api/v1/monitor/{monitorid}/pings"),
    of_monitor("GET /api/v1/monitor/{monitorid}/pings/{n}/body"),
    // Ids of other teams are ignored.
    Row { status: 200, ..of_monitor("GET /api/v1/maintenances") },
    of_maintenance("GET /api/v1/maintenance/{maintenanceid}/get"),
    Row {
        body: |id| json!({"maintenanceid": id, "name": "changed"}),
        ..of_maintenance("POST /api/v1/maintenance/save")
    },
    Row {
        body: |id| json!({"maintenanceid": id}),
        ..of_maintenance("POST /api/v1/maintenance/try")
    },
    of_maintenance("POST /api/v1/maintenance/{maintenanceid}/end"),
    Row {
        body: |_| json!({"until": "2026-12-01T00:00:00Z"}),
        ..of_maintenance("POST /api/v1/maintenance/{maintenanceid}/extend")
    },
    of_maintenance("DELETE /api/v1/maintenance/{maintenanceid}/delete"),
    Row {
        takes: "notifierid policyid scheduleid userid",
        body: |id| json!({"policyid": id, "name": "changed"}),
        ..of_policy("POST /api/v1/policy/save")
    },
    of_policy("DELETE /api/v1/policy/{policyid}/delete"),
    of_schedule("GET /api/v1/schedule/{scheduleid}/get"),
    Row {
        body: |id| json!({"scheduleid": id, "name": "changed"}),
        ..of_schedule("POST /api/v1/schedule/save")
    },
    of_schedule("DELETE /api/v1/schedule/{scheduleid}/delete"),
    Row {
        takes: "scheduleid userid",
        body: |_| json!({"userid": UNKNOWN, "starts": "2026-12-01T00:00", "ends": "2026-12-02T00:00"}),
        ..of_schedule("POST /api/v1/schedule/{scheduleid}/override")
    },
    of_schedule("POST /api/v1/schedule/{scheduleid}/feed"),
    Row {
        operation: "DELETE /api/v1/override/{overrideid}/delete",
        takes: "overrideid",
        id: |team| &team.overrideid,
        ..of_monitor("")
    },
    of_page("GET /api/v1/statuspage/{pageid}/get"),
    Row {
        takes: "componentid pageid ruleid sectionid templateid",
        body: |id| json!({"pageid": id, "name": "changed"}),
        ..of_page("POST /api/v1/statuspage/save")
    },
    Row {
        takes: "componentid incidentid pageid ruleid sectionid templateid updateid",
        body: |id| json!({"pageid": id, "name": "changed"}),
        ..of_page("POST /api/v1/statuspage/preview")
    },
    Row {
        body: |_| json!({"kind": "logo", "data": "iVBORw0KGgo="}),
        ..of_page("POST /api/v1/statuspage/{pageid}/image")
    },
    of_page("DELETE /api/v1/statuspage/{pageid}/image/{kind}/delete"),
    Row {
        body: |_| json!({"domain": "status.example.com"}),
        ..of_page("POST /api/v1/statuspage/{pageid}/domain/check")
    },
    of_page("POST /api/v1/statuspage/{pageid}/token/rotate"),
    of_page("GET /api/v1/statuspage/{pageid}/subscribers"),
    Row {
        takes: "pageid subscriberid",
        body: |_| json!({"address": "a@b.example", "consent": true}),
        ..of_page("POST /api/v1/statuspage/{pageid}/subscriber/save")
    },
    Row {
        takes: "pageid subscriberid",
        body: |_| json!({"subscribers": [], "consent": true}),
        ..of_page("POST /api/v1/statuspage/{pageid}/subscribers/import")
    },
    Row {
        takes: "pageid subscriberid",
        ..of_page("DELETE /api/v1/statuspage/{pageid}/subscriber/{subscriberid}/delete")
    },
    of_page("POST /api/v1/statuspage/{pageid}/subscriber/test"),
    of_page("DELETE /api/v1/statuspage/{pageid}/delete"),
    Row {
        operation: "POST /api/v1/component/{componentid}/status",
        takes: "componentid",
        id: |team| &team.componentid,
        body: |_| json!({"status": "partial_outage"}),
        ..of_monitor("")
    },
    // Ids of other teams are ignored.
    Row { takes: "componentid pageid", status: 200, ..of_page("GET /api/v1/incidents") },
    of_incident("GET /api/v1/incident/{incidentid}/get"),
    Row {
        takes: "componentid incidentid pageids templateid updateid",
        body: |id| json!({"incidentid": id, "title": "changed"}),
        ..of_incident("POST /api/v1/incident/save")
    },
    Row {
        takes: "componentid incidentid updateid",
        body: |_| json!({"body": "Still down."}),
        ..of_incident("POST /api/v1/incident/{incidentid}/update/save")
    },
    Row {
        takes: "incidentid updateid",
        ..of_incident("DELETE /api/v1/incident/{incidentid}/update/{updateid}/delete")
    },
    of_incident("GET /api/v1/incident/{incidentid}/deliveries"),
    Row {
        takes: "incidentid updateid",
        ..of_incident("POST /api/v1/incident/{incidentid}/update/{updateid}/resend")
    },
    Row {
        body: |_| json!({"notify": false}),
        ..of_incident("POST /api/v1/incident/{incidentid}/publish")
    },
    Row {
        body: |_| json!({"body": "It was DNS."}),
        ..of_incident("POST /api/v1/incident/{incidentid}/postmortem/save")
    },
    of_incident("DELETE /api/v1/incident/{incidentid}/delete"),
    Row {
        operation: "POST /api/v1/incidenttemplate/save",
        takes: "templateid",
        id: |team| &team.templateid,
        body: |id| json!({"templateid": id, "name": "changed"}),
        ..of_monitor("")
    },
    Row {
        operation: "DELETE /api/v1/incidenttemplate/{templateid}/delete",
        takes: "templateid",
        id: |team| &team.templateid,
        ..of_monitor("")
    },
    Row {
        operation: "DELETE /api/v1/webpush/{subscriptionid}/delete",
        takes: "subscriptionid",
        id: |team| &team.subscriptionid,
        ..of_monitor("")
    },
    Row {
        body: |id| json!({"rules": [{"notifierid": id}]}),
        status: 422,
        ..of_notifier("POST /api/v1/contacts/save")
    },
    Row {
        body: |id| json!({"rules": [{"name": "x", "everything": true, "policyid": id}]}),
        status: 422,
        ..of_policy("POST /api/v1/routing/save")
    },
    Row { body: |id| json!({"monitorid": id}), ..of_monitor("POST /api/v1/routing/try") },
    of_monitor("GET /api/v1/alerts"),
    Row { body: |_| Value::Null, ..of_alert("GET /api/v1/alert/{alertid}/get") },
    of_alert("POST /api/v1/alert/{alertid}/acknowledge"),
    Row { body: |_| Value::Null, ..of_alert("POST /api/v1/alert/{alertid}/unacknowledge") },
    Row { body: |_| json!({"seconds": 60}), ..of_alert("POST /api/v1/alert/{alertid}/snooze") },
    Row { takes: "alertid userid", ..of_alert("POST /api/v1/alert/{alertid}/assign") },
    Row { body: |_| json!({"text": "x"}), ..of_alert("POST /api/v1/alert/{alertid}/comment") },
    Row {
        body: |_| json!({"severity": "info"}),
        ..of_alert("POST /api/v1/alert/{alertid}/severity")
    },
    of_alert("POST /api/v1/alert/{alertid}/resolve"),
    of_alerts("POST /api/v1/alerts/acknowledge"),
    Row {
        body: |id| json!({"alertids": [id], "seconds": 60}),
        ..of_alerts("POST /api/v1/alerts/snooze")
    },
    of_alerts("POST /api/v1/alerts/resolve"),
    Row {
        body: |id| webhook(Some(id), "http://127.0.0.1:1/"),
        ..of_notifier("POST /api/v1/notifier/save")
    },
    Row { body: |id| json!({"notifierid": id}), ..of_notifier("POST /api/v1/notifier/test") },
    Row { body: |id| json!({"notifierid": id}), ..of_notifier("POST /api/v1/notifier/preview") },
    of_notifier("DELETE /api/v1/notifier/{notifierid}/delete"),
    of_notifier("POST /api/v1/notifier/{notifierid}/rotate"),
    of_notifier("GET /api/v1/notifier/{notifierid}/deliveries"),
    Row {
        operation: "POST /api/v1/delivery/{deliveryid}/resend",
        takes: "deliveryid",
        id: |team| &team.deliveryid,
        ..of_monitor("")
    },
    of_method("POST /api/v1/paymentmethod/default"),
    of_method("POST /api/v1/paymentmethod/delete"),
    Row {
        takes: "methodID",
        body: |id| json!({"plan": "starter", "method": "methodID", "methodID": id}),
        ..of_method("POST /api/v1/membership/save")
    },
    Row {
        takes: "methodID",
        body: |id| json!({"plan": "starter", "method": "methodID", "methodID": id}),
        ..of_method("POST /api/membership/save")
    },
    Row {
        operation: "POST /api/v1/password/update",
        takes: "tokenid",
        id: |team| &team.reset,
        unknown: "wkr_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        body: |id| json!({"email": "ann@example.com", "password1": PASSWORD, "password2": PASSWORD, "tokenid": id}),
        status: 401,
    },
];

fn row(operation: &Operation) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.operation == operation.name())
}

async fn send(client: &Client, operation: &Operation, row: &Row, id: &str) -> Answer {
    let body = (row.body)(id);
    let body = (!body.is_null()).then_some(&body);
    let mut path = operation.path_with(id);
    if body.is_none() && path == operation.path {
        path = format!("{path}?{}={id}", row.takes);
    }
    client.call(operation.method.clone(), &path, body).await
}

/// The shape of an answer that may repeat the id it was sent, which then decides its length.
fn shape_without(answer: &Answer, id: &str) -> (u16, String, Vec<(String, String)>) {
    let (status, text, mut headers) = answer.shape();
    headers.retain(|(name, _)| name != "content-length" || !text.contains(id));
    (status, text.replace(id, "ID"), headers)
}

#[test]
fn every_operation_that_takes_an_id_is_covered() {
    for operation in operations() {
        // Administrators may name every user and team of the installation; see admin.rs.
        if operation.permission == "operate" {
            continue;
        }
        let takes: Vec<&str> =
            row(&operation).into_iter().flat_map(|row| row.takes.split(' ')).collect();
        assert_eq!(operation.ids, takes, "{}: add it to the table of this test", operation.name());
    }
}

both_databases! {
    async fn another_teams_id_gets_the_same_response_as_an_unknown_id(setup: Setup) {
        let app = setup.start().await;
        let ann = Team::make(&app, "ann@example.com").await;
        let bob = Team::make(&app, "bob@example.com").await;
        for operation in operations() {
            let Some(row) = row(&operation) else { continue };
            let client = &ann.user.client;
            let foreign = send(client, &operation, row, (row.id)(&bob)).await;
            let unknown = send(client, &operation, row, row.unknown).await;
            let rubbish = send(client, &operation, row, "rubbish").await;
            assert_eq!(foreign.status, row.status, "{}: {}", row.operation, foreign.text);
            let unknown = shape_without(&unknown, row.unknown);
            let foreign = shape_without(&foreign, (row.id)(&bob));
            assert_eq!(foreign, unknown, "{}", row.operation);
            assert_eq!(shape_without(&rubbish, "rubbish"), unknown, "{}", row.operation);
        }
        // Bob's objects are unchanged.
        let list = bob.user.client.get("integrations/apikeys").await.ok();
        assert_eq!(list["apikeys"][0]["apikeyid"], bob.apikeyid.as_str());
        let list = bob.user.client.get("sessions").await.ok();
        let sessions = list["sessions"].as_array().unwrap();
        assert!(sessions.iter().any(|session| session["sessionid"] == bob.sessionid.as_str()));
        let list = bob.user.client.get("monitors").await.ok();
        // Ids created in the same millisecond have no defined order.
        let monitors = list["monitors"].as_array().unwrap();
        let monitor = monitors.iter().find(|monitor| monitor["monitorid"] == bob.monitorid.as_str());
        assert_eq!(monitor.expect("still there")["name"], "port");
        let list = bob.user.client.get("notifiers").await.ok();
        assert_eq!(list["notifiers"].as_array().unwrap().len(), 2);
        let list = bob.user.client.get("paymentmethods/get").await.ok();
        assert_eq!(list["paymentMethods"][0]["methodid"], bob.methodid.as_str());
        bob.user.log_in(&app.anonymous()).await;
        let body = json!({"email": bob.user.email, "password1": PASSWORD, "password2": PASSWORD, "tokenid": bob.reset});
        app.anonymous().post("password/update", &body).await.ok();
    }

    async fn a_monitor_outside_the_filter_gets_the_same_response_as_an_unknown_id(setup: Setup) {
        let app = setup.start().await;
        let ann = Team::make(&app, "ann@example.com").await;
        let viewer = monitor_filters::viewer(&app, &ann.user, &json!({"tags": ["mine"]})).await;
        let key = json!({"name": "terraform", "scope": "editor", "tags": "mine"});
        let key = monitor_filters::key(&app, &ann.user, &key).await;
        let mut compared = 0;
        for operation in operations() {
            let Some(row) = row(&operation) else { continue };
            let concerns_monitors =
                [ann.monitorid.as_str(), &ann.push_monitorid, &ann.deliveryid, &ann.alertid];
            if !concerns_monitors.contains(&(row.id)(&ann)) {
                continue;
            }
            for client in [&viewer.client, &key] {
                let hidden = send(client, &operation, row, (row.id)(&ann)).await;
                let unknown = send(client, &operation, row, row.unknown).await;
                let hidden = shape_without(&hidden, (row.id)(&ann));
                assert_eq!(hidden, shape_without(&unknown, row.unknown), "{}", row.operation);
                compared += 1;
            }
            let by_key = send(&key, &operation, row, (row.id)(&ann)).await;
            assert_eq!(by_key.status, row.status, "{}: {}", row.operation, by_key.text);
        }
        assert!(compared >= 28, "{compared}");
        let list = ann.user.client.get("monitors").await.ok();
        assert_eq!(list["monitors"].as_array().unwrap().len(), 2, "nothing was deleted");
        monitor_filters::sees_nothing(&viewer.client).await;
        monitor_filters::sees_nothing(&key).await;
        let path = format!("notifier/{}/delete", ann.used_notifierid);
        let refused = key.delete(&path).await;
        refused.refused(403, "key_scope");
        assert!(!refused.text.contains("job"), "{}", refused.text);
    }

    async fn ones_own_id_is_accepted_by_every_covered_operation(setup: Setup) {
        let mut setup = setup;
        setup.settings.limits.reset_requests_per_hour = 1000;
        setup.settings.limits.signups_per_hour = 1000;
        let app = setup.start().await;
        let mut shared = Team::make(&app, "u@example.com").await;
        let operations = operations();
        for (at, row) in ROWS.iter().enumerate() {
            let operation = operations.iter().find(|operation| operation.name() == row.operation).unwrap();
            // The id is known, but one turns off one's own MFA with a code, and the user who
            // should take over is not, nor is the domain.
            let refused = ["/member/mfareset", "/override", "/domain/check"];
            let is_refused = refused.iter().any(|path| row.operation.ends_with(path));
            // The path has a second part, which is not the id of the first.
            let has_parts = [
                "/{kind}/delete",
                "/{updateid}/delete",
                "/{updateid}/resend",
                "/{subscriberid}/delete",
                "/{n}/body",
            ];
            let is_other = has_parts.iter().any(|path| row.operation.ends_with(path));
            // The monitor has no value to accept.
            let has_nothing = row.operation.ends_with("/{monitorid}/accept");
            let expected = match (is_refused, is_other, has_nothing) {
                (true, _, _) => 422,
                (_, true, _) => 404,
                (_, _, true) => 409,
                _ => 200,
            };
            // The row of password/update contains its email.
            if row.takes == "tokenid" {
                shared = Team::make(&app, "ann@example.com").await;
            }
            let mut answer = send(&shared.user.client, operation, row, (row.id)(&shared)).await;
            // An earlier row may have deleted what this one needs.
            if answer.status != expected {
                shared = Team::make(&app, &format!("u{at}@example.com")).await;
                answer = send(&shared.user.client, operation, row, (row.id)(&shared)).await;
            }
            assert_eq!(answer.status, expected, "{}: {}", row.operation, answer.text);
        }
    }
}
