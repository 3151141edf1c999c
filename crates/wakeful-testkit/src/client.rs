//! API clients: anonymous, with a bearer token, or with an API key pair, all
//! with the same methods.

use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

/// A password that the policy accepts.
pub const PASSWORD: &str = "correct horse 9";

#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    headers: Vec<(String, String)>,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The JSON of a response that must be 200 with success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        let json = self.json();
        assert_eq!(json["success"], true, "{}", self.text);
        json
    }

    /// The JSON of an error, which must have this status and code and the
    /// standard format.
    #[track_caller]
    pub fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        let json = self.json();
        assert_eq!(json["success"], false, "{}", self.text);
        assert_eq!(json["code"], code, "{}", self.text);
        assert!(json["message"].as_str().is_some_and(|text| text.ends_with('.')), "{}", self.text);
        assert_eq!(json.get("errors").is_some(), status == 422, "{}", self.text);
        json
    }

    /// The names of the invalid fields of a 422.
    #[track_caller]
    pub fn wrong_fields(&self) -> Vec<String> {
        let json = self.refused(422, "invalid_fields");
        let errors = json["errors"].as_array().unwrap();
        errors.iter().map(|error| error["field"].as_str().unwrap().to_owned()).collect()
    }

    /// The names of a JSON object's fields, in order.
    #[track_caller]
    pub fn keys(&self) -> Vec<String> {
        let json = self.json();
        let fields = json.as_object().unwrap_or_else(|| panic!("not an object: {json}"));
        fields.keys().cloned().collect()
    }

    /// Everything except the parts that differ between responses.
    pub fn shape(&self) -> (u16, String, Vec<(String, String)>) {
        let mut headers: Vec<(String, String)> = self
            .headers
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "date" | "x-request-id"))
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        headers.sort();
        (self.status, self.text.clone(), headers)
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Client {
    pub fn new(url: &str) -> Self {
        let http = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { http, url: url.to_owned(), headers: Vec::new() }
    }

    /// The same client with one more header.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        self.with("authorization", &format!("Bearer {token}"))
    }

    #[must_use]
    pub fn with_keys(&self, apikey: &str, enckey: &str) -> Self {
        self.with("x-api-key", apikey).with("x-enc-key", enckey)
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call(Method::GET, path, None).await
    }

    pub async fn delete(&self, path: &str) -> Answer {
        self.call(Method::DELETE, path, None).await
    }

    /// A POST with JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.raw(Method::POST, path, Some("application/json"), body.to_string()).await
    }

    /// A POST without a body.
    pub async fn post_nothing(&self, path: &str) -> Answer {
        self.call(Method::POST, path, None).await
    }

    pub async fn log_in(&self, email: &str, password: &str) -> Answer {
        self.post("login", &json!({"email": email, "password": password})).await
    }

    /// Whether these credentials are valid.
    pub async fn is_authenticated(&self) -> bool {
        let answer = self.get("users/me").await;
        if answer.status != 200 {
            answer.refused(401, "not_authenticated");
        }
        answer.status == 200
    }

    pub async fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Answer {
        match body {
            Some(body) => self.raw(method, path, Some("application/json"), body.to_string()).await,
            None => self.raw(method, path, None, String::new()).await,
        }
    }

    pub async fn raw(
        &self,
        method: Method,
        path: &str,
        content_type: Option<&str>,
        body: impl Into<reqwest::Body>,
    ) -> Answer {
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/api/v1/{path}") };
        let mut request = self.http.request(method, format!("{}{path}", self.url));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(kind) = content_type {
            request = request.header("content-type", kind).body(body);
        }
        let response = request.send().await.unwrap();
        Answer {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            text: response.text().await.unwrap(),
        }
    }
}

/// A user who has signed up, with a client that uses their bearer token.
#[derive(Clone)]
pub struct User {
    pub email: String,
    pub password: String,
    pub userid: String,
    pub team: String,
    pub token: String,
    pub client: Client,
}

impl User {
    pub async fn sign_up(anonymous: &Client, email: &str) -> Self {
        let body = json!({"email": email, "password": PASSWORD});
        Self::of(anonymous, email, &anonymous.post("signup", &body).await)
    }

    /// Logs in again: the same user with another token.
    pub async fn log_in(&self, anonymous: &Client) -> Self {
        let answer = anonymous.log_in(&self.email, &self.password).await;
        Self::of(anonymous, &self.email, &answer)
    }

    /// Adds a colleague to the team and logs them in.
    pub async fn colleague(&self, anonymous: &Client, email: &str) -> Self {
        let body = json!({"email": email, "password1": PASSWORD, "password2": PASSWORD});
        self.client.post("team/save", &body).await.ok();
        Self::logged_in(anonymous, email).await
    }

    /// Logs in a user who has the usual password.
    pub async fn logged_in(anonymous: &Client, email: &str) -> Self {
        Self::of(anonymous, email, &anonymous.log_in(email, PASSWORD).await)
    }

    /// Enters the password again, for calls that need it to be recent.
    pub async fn reauthenticate(&self) {
        self.client.post("reauthenticate", &json!({"password": self.password})).await.ok();
    }

    /// Creates an API key pair.
    pub async fn new_keys(&self, anonymous: &Client) -> Keys {
        let body = json!({"name": "build server"});
        let json = self.client.post("integrations/apikey/save", &body).await.ok();
        let text = |field: &str| json[field].as_str().unwrap().to_owned();
        let (apikey, enckey) = (text("apikey"), text("enckey"));
        let client = anonymous.with_keys(&apikey, &enckey);
        Keys { id: text("apikeyid"), apikey, enckey, client }
    }

    #[track_caller]
    fn of(anonymous: &Client, email: &str, answer: &Answer) -> Self {
        let json = answer.ok();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let token = text(&json["token"]);
        Self {
            email: email.to_owned(),
            password: PASSWORD.to_owned(),
            userid: text(&json["user"]["userid"]),
            team: text(&json["user"]["groupid"]),
            client: anonymous.with_token(&token),
            token,
        }
    }
}

/// An API key pair, and a client that uses it.
#[derive(Clone)]
pub struct Keys {
    pub id: String,
    pub apikey: String,
    pub enckey: String,
    pub client: Client,
}
