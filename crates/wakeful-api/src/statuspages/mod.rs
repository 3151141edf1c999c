//! Status pages for their visitors: rendered from memory, without a login and without a
//! database.

mod assets;
mod badge;
mod bars;
mod calendar;
mod etag;
mod feeds;
mod json;
mod render;
mod style;
mod v2;
mod view;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;
