//! The bell of the outbox: rings when something was put in through this store,
//! and says what, as long as it is little. Nobody has to look for it then.

use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

use super::DueDelivery;
use crate::Store;

/// More than this is looked for, in the order that is fair to all.
const FEW: usize = 50;

#[derive(Default)]
pub(crate) struct Bell {
    rung: Notify,
    news: Mutex<News>,
}

#[derive(Default)]
struct News {
    few: Vec<DueDelivery>,
    /// There is more than is said.
    more: bool,
}

impl Bell {
    /// Something was put in.
    pub(crate) fn ring(&self) {
        self.lock().more = true;
        self.rung.notify_one();
    }

    /// These were put in.
    pub(crate) fn ring_for(&self, new: Vec<DueDelivery>) {
        let mut news = self.lock();
        match news.few.len() + new.len() > FEW {
            true => news.more = true,
            false => news.few.extend(new),
        }
        drop(news);
        self.rung.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Returns once something was put into the outbox through this store: these,
    /// or nothing when one has to look. Other nodes write there too, and wake
    /// nobody here.
    pub async fn outbox_filled(&self) -> Option<Vec<DueDelivery>> {
        self.outbox.rung.notified().await;
        let News { few, more } = std::mem::take(&mut *self.outbox.lock());
        (!more).then_some(few)
    }
}
