//! The style sheet and the script of all pages. Their names contain a hash of their content,
//! so browsers cache them permanently.

use flate2::Compression;
use hyper::body::Bytes;
use std::sync::LazyLock;

use super::etag;
use crate::compression::gzip;

pub(super) const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// A file that all pages share.
pub(super) struct Asset {
    /// With its hash, such as `page-0123456789abcdef.css`.
    pub(super) name: String,
    pub(super) media_type: &'static str,
    pub(super) gzip: Bytes,
    pub(super) text: &'static str,
}

impl Asset {
    fn new(extension: &str, media_type: &'static str, text: &'static str) -> Self {
        let name = format!("page-{}.{extension}", etag::short_hash(text.as_bytes()));
        Self { name, media_type, gzip: gzip(text.as_bytes(), Compression::best()), text }
    }

    pub(super) fn path(&self) -> String {
        format!("/status/assets/{}", self.name)
    }
}

pub(super) fn style() -> &'static Asset {
    static ASSET: LazyLock<Asset> =
        LazyLock::new(|| Asset::new("css", "text/css; charset=utf-8", STYLE));
    &ASSET
}

pub(super) fn script() -> &'static Asset {
    static ASSET: LazyLock<Asset> =
        LazyLock::new(|| Asset::new("js", "text/javascript; charset=utf-8", SCRIPT));
    &ASSET
}

/// The file of a name.
pub(super) fn find(name: &str) -> Option<&'static Asset> {
    [style(), script()].into_iter().find(|asset| asset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_small() {
        assert!(style().gzip.len() <= 6 * 1024, "{}", style().gzip.len());
        assert!(script().gzip.len() <= 4 * 1024, "{}", script().gzip.len());
    }
}
