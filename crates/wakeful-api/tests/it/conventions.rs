//! The rules for all paths: the format of responses and errors, headers, limits and
//! health checks.

use reqwest::Method;
use serde_json::json;
use std::collections::HashSet;
use std::num::NonZeroU32;
use wakeful_testkit::{Answer, App, DatabaseKind, PASSWORD, both_databases, send_raw, until};

const JSON: Option<&str> = Some("application/json");

/// A POST to login with these header lines and body, byte for byte.
async fn login_bytes(app: &App, headers: &str, body: &[u8]) -> String {
    let head = format!(
        "POST /api/v1/login HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n"
    );
    send_raw(&app.url, &[head.as_bytes(), body].concat()).await
}

fn allowed(answer: &Answer) -> HashSet<String> {
    answer.header("allow").split(',').map(|method| method.trim().to_owned()).collect()
}

both_databases! {
    async fn a_body_must_be_sent_as_json(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let body = json!({"email": ann.email, "password": PASSWORD}).to_string();
        for kind in ["application/json; charset=utf-8", "application/json;charset=UTF-8", "Application/JSON"] {
            app.anonymous().raw(Method::POST, "login", Some(kind), body.clone()).await.ok();
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json", ""] {
            let answer = app.anonymous().raw(Method::POST, "login", Some(kind), body.clone()).await;
            answer.refused(415, "unsupported_media_type");
        }
        let length = format!("content-length: {}\r\n", body.len());
        let answer = login_bytes(&app, &length, body.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 415 "), "{answer}");
        app.anonymous().post_nothing("login").await.refused(415, "unsupported_media_type");
    }

    async fn malformed_json_is_400_and_says_where(setup: Setup) {
        let app = setup.start().await;
        let deep = "[".repeat(100_000);
        for body in ["", "{", "{\"email\":", "nonsense", "{}{}", "{\"email\": \"\\ud800\"}", deep.as_str()] {
            let answer = app.anonymous().raw(Method::POST, "login", JSON, body.to_owned()).await;
            let json = answer.refused(400, "malformed_json");
            assert!(json["message"].as_str().unwrap().contains("line 1, column "), "{}", answer.text);
        }
        let answer = app.anonymous().raw(Method::POST, "login", JSON, vec![0xff, 0xfe]).await;
        answer.refused(400, "malformed_json");
    }

    async fn a_body_that_is_not_an_object_is_422(setup: Setup) {
        let app = setup.start().await;
        for body in ["[]", "null", "1", "\"x\"", "true"] {
            let answer = app.anonymous().raw(Method::POST, "login", JSON, body).await;
            assert_eq!(answer.wrong_fields(), ["body"], "{body}");
        }
    }

    async fn a_body_over_one_mebibyte_is_413_announced_or_streamed(setup: Setup) {
        let app = setup.start().await;
        let fits = format!("{{\"email\": \"{}\"}}", "x".repeat(1024 * 1024 - 13));
        assert_eq!(fits.len(), 1024 * 1024);
        let answer = app.anonymous().raw(Method::POST, "login", JSON, fits.clone()).await;
        assert_eq!(answer.wrong_fields(), ["password"]);
        let answer = login_bytes(&app, "content-type: application/json\r\ncontent-length: 1048577\r\n", b"").await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(answer.contains("\"code\":\"body_too_large\""), "{answer}");
        // The same in two chunks, without a length.
        let half = &fits[..512 * 1024];
        let chunk = format!("80000\r\n{half}\r\n");
        let body = format!("{chunk}{chunk}1\r\n \r\n0\r\n\r\n");
        let chunked = "content-type: application/json\r\ntransfer-encoding: chunked\r\n";
        let answer = login_bytes(&app, chunked, body.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{}", &answer[..answer.len().min(300)]);
        assert!(answer.contains("\"code\":\"body_too_large\""), "{answer}");
    }

    async fn more_than_a_hundred_headers_are_431(setup: Setup) {
        let app = setup.start().await;
        // Four more are sent: host, connection, and the two of the body.
        let many = |count: usize| (0..count).map(|n| format!("x-{n}: 1\r\n")).collect::<String>();
        let body = "content-type: application/json\r\ncontent-length: 2\r\n";
        for (count, status) in [(90, "422"), (101, "431"), (900, "431")] {
            let answer = login_bytes(&app, &format!("{body}{}", many(count)), b"{}").await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{count}: {answer}");
            assert!(answer.contains("x-request-id: "), "{answer}");
            assert_eq!(answer.contains("\"code\":\"too_many_headers\""), status == "431", "{answer}");
        }
    }

    async fn the_body_limit_is_a_setting(setup: Setup) {
        let mut setup = setup;
        setup.api.body_limit = 100;
        let app = setup.start().await;
        let body = json!({"email": "x".repeat(100), "password": "x"});
        app.anonymous().post("login", &body).await.refused(413, "body_too_large");
        let body = json!({"email": "x", "password": "x"});
        app.anonymous().post("login", &body).await.refused(401, "bad_credentials");
    }

    async fn an_incomplete_body_is_400(setup: Setup) {
        let app = setup.start().await;
        let headers = "content-type: application/json\r\ntransfer-encoding: chunked\r\n";
        let answer = login_bytes(&app, headers, b"zz\r\nnot a chunk").await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    }

    async fn a_wrong_method_is_405_and_lists_the_allowed_ones(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for (method, path, allow) in [
            (Method::GET, "login", vec!["POST"]),
            (Method::PUT, "team/save", vec!["POST"]),
            (Method::POST, "team/get", vec!["GET", "HEAD"]),
            (Method::DELETE, "authenticated", vec!["GET", "HEAD", "POST"]),
            (Method::GET, "user/delete", vec!["DELETE", "POST"]),
            (Method::OPTIONS, "login", vec!["POST"]),
            (Method::from_bytes(b"BREW").unwrap(), "users/me", vec!["GET", "HEAD"]),
            (Method::POST, "/healthz", vec!["GET", "HEAD"]),
            (Method::POST, "/api/openapi.json", vec!["GET", "HEAD"]),
        ] {
            for client in [&app.anonymous(), &ann.client] {
                let answer = client.call(method.clone(), path, None).await;
                answer.refused(405, "method_not_allowed");
                let allow: HashSet<String> = allow.iter().map(|&method| method.to_owned()).collect();
                assert_eq!(allowed(&answer), allow, "{method} {path}");
            }
        }
    }

    async fn an_unknown_path_is_404_as_json(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for path in [
            "/api", "/api/", "/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v2/login", "/api/v1/login/",
            "/api/v1//login", "/api/v1/Login", "/api/v1/login%20", "/api/v1/%2e%2e/login", "/api/docs/nothing.js",
            "/api/docs/..%2f..%2fetc%2fpasswd", "/api/v1/monitor/%ff/get", "/api/push/%C3%28", "/api/docs/%ff", "/nothing", "/.env",
        ] {
            for client in [&app.anonymous(), &ann.client] {
                let answer = client.get(path).await;
                assert_eq!(answer.status, 404, "{path}: {}", answer.text);
                answer.refused(404, "no_such_path");
                assert_eq!(answer.header("content-type"), "application/json", "{path}");
            }
        }
        // Browsers request it on their own, and would report a 404 as an error.
        assert_eq!(app.anonymous().get("/favicon.ico").await.status, 204);
    }

    async fn an_invalid_id_in_a_path_is_404_as_json(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for id in ["x", "%00", "%20", "..", "00000000-0000-0000-0000-000000000000", "%F0%9F%92%A9", "' or 1=1 --"] {
            let path = format!("integrations/apikey/{id}/delete");
            let path = if id == ".." { "integrations/apikey/%2e%2e%2f/delete".to_owned() } else { path };
            let answer = ann.client.delete(&path).await;
            answer.refused(404, "not_found");
            app.anonymous().delete(&path).await.refused(401, "not_authenticated");
        }
    }

    async fn every_response_has_a_unique_id_and_security_headers(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let claimed = ann.client.with("x-request-id", "mine");
        let answers = [
            claimed.get("users/me").await,
            claimed.get("users/me").await,
            claimed.get("nothing").await,
            app.anonymous().get("users/me").await,
            claimed.call(Method::PUT, "login", None).await,
            claimed.post("login", &json!({})).await,
            claimed.get("/healthz").await,
            claimed.get("/").await,
            claimed.get("/api/docs/").await,
            claimed.get("/api/openapi.json").await,
            claimed.get("/metrics").await,
        ];
        let ids: HashSet<&str> = answers.iter().map(|answer| answer.header("x-request-id")).collect();
        assert_eq!(ids.len(), answers.len(), "{ids:?}");
        assert!(ids.iter().all(|id| id.len() == 16), "{ids:?}");
        for answer in &answers {
            assert_eq!(answer.header("x-content-type-options"), "nosniff");
            assert_eq!(answer.header("referrer-policy"), "no-referrer");
            let policy = answer.header("content-security-policy");
            assert!(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"), "{policy}");
            assert_eq!(answer.header("strict-transport-security"), "");
            assert_eq!(answer.header("access-control-allow-origin"), "");
        }
        assert_eq!(answers[0].header("cache-control"), "no-store");
    }

    async fn a_service_behind_tls_sends_hsts(setup: Setup) {
        let mut setup = setup;
        setup.api.https = true;
        let app = setup.start().await;
        let answer = app.anonymous().get("users/me").await;
        assert_eq!(answer.header("strict-transport-security"), "max-age=31536000");
        let app = app.restart_with(|setup| setup.api.hsts_subdomains = true).await;
        let answer = app.anonymous().get("users/me").await;
        assert_eq!(
            answer.header("strict-transport-security"),
            "max-age=31536000; includeSubDomains"
        );
    }

    async fn other_origins_may_not_call_by_default(setup: Setup) {
        let app = setup.start().await;
        let page = app.anonymous().with("origin", "https://evil.example");
        let asking = page.with("access-control-request-method", "POST");
        for answer in [asking.call(Method::OPTIONS, "login", None).await, page.get("users/me").await] {
            assert!(answer.headers.keys().all(|name| !name.as_str().starts_with("access-control-")), "{answer:?}");
        }
    }

    async fn only_configured_origins_may_call(setup: Setup) {
        let mut setup = setup;
        setup.api.cors_origins = vec!["https://page.example".into()];
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let answer = ann.client.with("origin", "https://page.example").get("users/me").await;
        answer.ok();
        assert_eq!(answer.header("access-control-allow-origin"), "https://page.example");
        assert_eq!(answer.header("access-control-allow-credentials"), "");
        let asking = app.anonymous().with("access-control-request-method", "POST")
            .with("access-control-request-headers", "authorization");
        let answer = asking.with("origin", "https://page.example").call(Method::OPTIONS, "login", None).await;
        assert_eq!(answer.status, 200);
        assert!(answer.header("access-control-allow-headers").contains("authorization"), "{answer:?}");
        assert!(answer.header("access-control-allow-methods").contains("POST"), "{answer:?}");
        for origin in ["https://evil.example", "https://page.example.evil.example", "http://page.example", "null"] {
            let answer = asking.with("origin", origin).call(Method::OPTIONS, "login", None).await;
            assert_eq!(answer.header("access-control-allow-origin"), "", "{origin}");
            let answer = ann.client.with("origin", origin).get("users/me").await;
            assert_eq!(answer.header("access-control-allow-origin"), "", "{origin}");
        }
    }

    async fn head_responds_like_get_without_the_body(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        for (client, path, status) in [
            (&ann.client, "users/me", 200), (&app.anonymous(), "users/me", 401), (&ann.client, "nothing", 404),
            (&ann.client, "/healthz", 200), (&ann.client, "/api/openapi.json", 200),
        ] {
            let answer = client.call(Method::HEAD, path, None).await;
            assert_eq!((answer.status, answer.text.as_str()), (status, ""), "{path}");
            assert_eq!(answer.header("content-type"), "application/json", "{path}");
        }
    }

    async fn calls_are_limited_per_token(setup: Setup) {
        let mut setup = setup;
        setup.api.api_calls_per_minute = NonZeroU32::new(5).unwrap();
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        let again = ann.log_in(&app.anonymous()).await;
        for _ in 0..5 {
            ann.client.get("users/me").await.ok();
        }
        let limited = ann.client.get("users/me").await;
        limited.refused(429, "too_many_requests");
        let wait: u32 = limited.header("retry-after").parse().unwrap();
        assert!((1..=12).contains(&wait), "{wait}");
        ann.client.post("team/revoke", &json!({"userids": [ann.userid]})).await.refused(429, "too_many_requests");
        again.client.get("users/me").await.ok();
        // Unauthenticated calls get 401 and are not counted.
        for _ in 0..8 {
            app.anonymous().with_token("wk_x").get("users/me").await.refused(401, "not_authenticated");
        }
    }

    async fn healthz_responds_while_the_process_runs(setup: Setup) {
        let app = setup.start().await;
        app.anonymous().get("/healthz").await.ok();
        app.store.close().await;
        app.anonymous().get("/healthz").await.ok();
    }

    async fn without_storage_it_is_not_ready_and_calls_get_retry_after(setup: Setup) {
        let app = setup.start().await;
        let ann = app.sign_up("ann@example.com").await;
        app.anonymous().get("/readyz").await.ok();
        app.store.close().await;
        for answer in [
            app.anonymous().get("/readyz").await,
            ann.client.get("users/me").await,
            app.anonymous().log_in(&ann.email, PASSWORD).await,
        ] {
            answer.refused(503, "unavailable");
            assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
        }
    }

    async fn metrics_require_a_token_and_are_404_if_none_is_set(setup: Setup) {
        let mut setup = setup;
        let kind = setup.database_kind;
        let app = wakeful_testkit::Setup::on(kind).start().await;
        app.anonymous().with_token("").get("/metrics").await.refused(404, "no_such_path");
        setup.api.metrics_token = Some(wakeful_core::secret::Secret::new("let me count"));
        let app = setup.start().await;
        app.anonymous().get("/metrics").await.refused(401, "not_authenticated");
        for token in ["", "let me", "let me count!", "LET ME COUNT"] {
            app.anonymous().with_token(token).get("/metrics").await.refused(401, "not_authenticated");
        }
        let answer = app.anonymous().with_token("let me count").get("/metrics").await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert!(answer.header("content-type").starts_with("text/plain; version=0.0.4"));
        assert!(answer.text.contains("wakeful_http_requests_total{"), "{}", answer.text);
        assert!(!answer.text.contains("let me count"));
    }

    async fn large_responses_are_compressed_on_request(setup: Setup) {
        let app = setup.start().await;
        let plain = app.anonymous().get("/api/openapi.json").await;
        assert_eq!(plain.header("content-encoding"), "");
        let head = app.anonymous().with("accept-encoding", "gzip").call(Method::HEAD, "/api/openapi.json", None).await;
        assert_eq!(head.header("content-encoding"), "gzip");
    }

    async fn the_docs_load_nothing_from_elsewhere_and_can_be_turned_off(setup: Setup) {
        let mut setup = setup;
        let kind = setup.database_kind;
        let app = wakeful_testkit::Setup::on(kind).start().await;
        let page = app.anonymous().get("/api/docs/").await;
        assert_eq!(page.status, 200);
        assert!(page.header("content-type").starts_with("text/html"));
        assert!(!page.text.contains("http://") && !page.text.contains("https://"), "{}", page.text);
        assert!(!page.header("content-security-policy").contains("unsafe"));
        assert_eq!(app.anonymous().get("/api/docs").await.header("location"), "/api/docs/");
        for (path, kind) in [("reference.js", "text/javascript"), ("reference.css", "text/css")] {
            assert!(page.text.contains(path), "{}", page.text);
            let file = app.anonymous().get(&format!("/api/docs/{path}")).await;
            assert_eq!((file.status, file.header("content-type")), (200, format!("{kind}; charset=utf-8").as_str()));
        }
        setup.api.docs = false;
        let app = setup.start().await;
        for path in ["/api/docs", "/api/docs/", "/api/openapi.json"] {
            app.anonymous().get(path).await.refused(404, "no_such_path");
        }
    }
}

/// The PostgreSQL server rejects all connections at first, and accepts them later.
#[tokio::test]
async fn it_is_ready_again_when_storage_is_back() {
    let app = wakeful_testkit::Setup::on(DatabaseKind::Postgres).start().await;
    let ann = app.sign_up("ann@example.com").await;
    app.database.refuse_connections().await;
    until("not ready", async || (app.anonymous().get("/readyz").await.status == 503).then_some(()))
        .await;
    ann.client.get("users/me").await.refused(503, "unavailable");
    app.database.accept_connections().await;
    until("ready", async || (app.anonymous().get("/readyz").await.status == 200).then_some(()))
        .await;
    ann.client.get("users/me").await.ok();
}
