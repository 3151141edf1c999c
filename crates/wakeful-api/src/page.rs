//! The page at `/`.

use axum::response::Html;

pub(crate) async fn index() -> Html<&'static str> {
    Html(include_str!("page.html"))
}
