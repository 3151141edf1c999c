//! Parts of a page inside other sites: a frame with its status and current problems, and a
//! script that links to the page.

use askama::Template;
use axum::http::HeaderValue;
use wakeful_core::statuspages::snapshot::{Component, Incident, Snapshot};

use super::render::{Context, finish};
use super::view::{View, indicator_class, status_class};

/// The same for all pages: it finds its page by its own address.
pub(super) const SCRIPT: &str = include_str!("assets/embed.js");

#[derive(Template)]
#[template(path = "embed.html")]
struct Frame<'a> {
    v: View<'a>,
    title: String,
    class: &'static str,
    /// Below the address of the page.
    path: String,
    problems: Vec<Problem>,
}

struct Problem {
    name: String,
    status: &'static str,
    path: String,
}

/// The frame of a page, or of one of its components.
pub(super) fn frame(
    snapshot: &Snapshot,
    component: Option<&Component>,
    context: Context<'_>,
) -> String {
    let v = View::new(snapshot, context.language, context.base);
    let names = |one: &&Incident| {
        component.is_none_or(|wanted| one.components.iter().any(|c| c.id == Some(wanted.id)))
    };
    let incidents = snapshot.incidents.iter().filter(names).map(|incident| Problem {
        name: v.plain(&incident.title),
        status: v.m.incident_status(incident.status),
        path: format!("/incident/{}", incident.id),
    });
    let failing = snapshot.components().filter(|one| component.is_none() && one.is_failing());
    let components = failing.map(|one| Problem {
        name: v.plain(&one.name),
        status: v.m.component_status(one.status),
        path: format!("/component/{}", one.id),
    });
    let problems = incidents.chain(components).collect();
    let (title, class, path) = match component {
        Some(one) => {
            let status = v.m.component_status(one.status);
            let title = format!("{}: {status}", v.plain(&one.name));
            (title, status_class(one.status), format!("/component/{}", one.id))
        }
        None => (v.headline().to_owned(), indicator_class(snapshot), String::new()),
    };
    finish(&Frame { v, title, class, path, problems })
}

/// The policy of a frame: only these origins may show it.
pub(super) fn policy(origins: &[String]) -> HeaderValue {
    let ancestors = if origins.is_empty() { "'none'".to_owned() } else { origins.join(" ") };
    let policy = format!(
        "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors {ancestors}"
    );
    HeaderValue::from_str(&policy)
        .unwrap_or(HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::gzip;
    use crate::statuspages::sample;
    use flate2::Compression;
    use wakeful_core::statuspages::Language;

    #[test]
    fn a_frame_is_small_and_shows_current_problems() {
        let snapshot = sample::page();
        let context = Context { language: Language::German, base: "", unlocked: false };
        let html = frame(&snapshot, None, context);
        assert!(
            html.contains("Langsame &#60;Anfragen&#62;")
                || html.contains("Langsame &lt;Anfragen&gt;"),
            "{html}"
        );
        assert!(!html.contains("Webseite"), "{html}");
        let one = frame(&snapshot, snapshot.component("api"), context);
        assert!(one.contains("<h1 class=\"tag major\">") && one.contains("API: "), "{one}");
        assert!(gzip(html.as_bytes(), Compression::default()).len() < 3 * 1024);
        assert!(gzip(SCRIPT.as_bytes(), Compression::default()).len() < 2 * 1024);
    }

    #[test]
    fn the_policy_names_the_origins() {
        let policy = |origins: &[&str]| {
            let origins: Vec<String> = origins.iter().map(|one| (*one).to_owned()).collect();
            let policy = policy(&origins);
            policy.to_str().expect("text").rsplit_once("; ").expect("parts").1.to_owned()
        };
        assert_eq!(policy(&[]), "frame-ancestors 'none'");
        assert_eq!(policy(&["*"]), "frame-ancestors *");
        let two = ["https://a.example", "https://b.example"];
        assert_eq!(policy(&two), "frame-ancestors https://a.example https://b.example");
    }
}
