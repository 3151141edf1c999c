//! The images of pages, in memory once they were requested: visitors must not cause queries.

use arc_swap::ArcSwap;
use hyper::body::Bytes;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use wakeful_core::id::StatuspageId;
use wakeful_core::statuspages::snapshot::ImageKind;

use crate::app::Api;
use crate::error::ApiError;

type Images = HashMap<(StatuspageId, ImageKind), Stored>;

#[derive(Clone)]
struct Stored {
    hash: String,
    content: Bytes,
}

#[derive(Default)]
pub(crate) struct PageImages {
    images: ArcSwap<Images>,
    /// Held while an image is read.
    reading: Mutex<()>,
}

impl PageImages {
    /// The image with a hash; `None` if the page has another one by now.
    pub(super) async fn get(
        &self,
        api: &Api,
        page: StatuspageId,
        kind: ImageKind,
        hash: &str,
    ) -> Result<Option<Bytes>, ApiError> {
        if let Some(found) = self.find(page, kind, hash) {
            return Ok(Some(found));
        }
        let _reading = self.reading.lock().await;
        if let Some(found) = self.find(page, kind, hash) {
            return Ok(Some(found));
        }
        let Some((image, content)) = api.engine().statuspage_image(page, kind).await? else {
            return Ok(None);
        };
        let content = Bytes::from(content);
        let mut images = Images::clone(&self.images.load());
        // Most of the memory is for what all visitors need.
        let max = api.engine().page_memory() / 8;
        if self.bytes() + content.len() > max {
            images.clear();
        }
        let is_wanted = image.digest == hash;
        images.insert((page, kind), Stored { hash: image.digest, content: content.clone() });
        self.images.store(Arc::new(images));
        Ok(is_wanted.then_some(content))
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        self.images.load().values().map(|stored| stored.content.len()).sum()
    }

    fn find(&self, page: StatuspageId, kind: ImageKind, hash: &str) -> Option<Bytes> {
        let images = self.images.load();
        let stored = images.get(&(page, kind)).filter(|stored| stored.hash == hash)?;
        Some(stored.content.clone())
    }
}
