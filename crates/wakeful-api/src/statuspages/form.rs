//! The forms in which a page is available: documents, data, feeds and images.

use super::feeds::Format;
use super::v2::Document;

/// What a public route returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Front,
    Component,
    Incident,
    History,
    Month,
    /// One entry for each update.
    Feed(Format),
    /// One entry for each incident.
    HistoryFeed(Format),
    ComponentFeed,
    Calendar,
    Index,
    Live,
    V2(Document),
    Badge,
    ComponentBadge,
    Image,
    Style,
    Manifest,
    /// Only on a custom domain.
    Robots,
    /// Only on a custom domain.
    Favicon,
    Embed,
    EmbedScript,
    KumaPage,
    KumaHeartbeats,
    KumaPageBadge,
    KumaBadge,
}

/// How a form is treated by caches and browsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Html,
    /// Data that other sites may read.
    Data,
    /// Data that programs fetch regularly.
    Feed,
    /// What other sites show.
    Image,
    /// Files of the page itself.
    File,
}

impl Form {
    /// For metrics.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Component => "component",
            Self::Incident => "incident",
            Self::History | Self::Month => "history",
            Self::Feed(_) | Self::HistoryFeed(_) | Self::ComponentFeed => "feed",
            Self::Calendar => "calendar",
            Self::Index => "index",
            Self::Live => "live",
            Self::V2(_) => "v2",
            Self::Badge | Self::ComponentBadge => "badge",
            Self::Image => "image",
            Self::Style => "style",
            Self::Manifest => "manifest",
            Self::Robots => "robots",
            Self::Favicon => "image",
            Self::Embed | Self::EmbedScript => "embed",
            Self::KumaPage | Self::KumaHeartbeats | Self::KumaPageBadge | Self::KumaBadge => "kuma",
        }
    }

    pub(super) fn class(self) -> Class {
        match self {
            Self::Front
            | Self::Component
            | Self::Incident
            | Self::History
            | Self::Month
            | Self::Embed => Class::Html,
            Self::Index | Self::Live | Self::V2(_) | Self::KumaPage | Self::KumaHeartbeats => {
                Class::Data
            }
            Self::Feed(_) | Self::HistoryFeed(_) | Self::ComponentFeed | Self::Calendar => {
                Class::Feed
            }
            Self::Badge
            | Self::ComponentBadge
            | Self::Image
            | Self::KumaPageBadge
            | Self::KumaBadge => Class::Image,
            Self::Style | Self::Manifest | Self::Robots | Self::Favicon | Self::EmbedScript => {
                Class::File
            }
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Front
            | Self::Component
            | Self::Incident
            | Self::History
            | Self::Month
            | Self::Embed => "text/html; charset=utf-8",
            Self::Feed(format) | Self::HistoryFeed(format) => match format {
                Format::Atom => "application/atom+xml; charset=utf-8",
                Format::Rss => "application/rss+xml; charset=utf-8",
                Format::Json => "application/feed+json",
            },
            Self::ComponentFeed => "application/atom+xml; charset=utf-8",
            Self::Calendar => "text/calendar; charset=utf-8",
            Self::Index | Self::Live | Self::V2(_) | Self::KumaPage | Self::KumaHeartbeats => {
                "application/json"
            }
            Self::Badge
            | Self::ComponentBadge
            | Self::Image
            | Self::KumaPageBadge
            | Self::KumaBadge => "image/svg+xml",
            Self::Robots => "text/plain; charset=utf-8",
            Self::Favicon => "image/x-icon",
            Self::EmbedScript => "text/javascript; charset=utf-8",
            Self::Style => "text/css; charset=utf-8",
            Self::Manifest => "application/manifest+json",
        }
    }
}
