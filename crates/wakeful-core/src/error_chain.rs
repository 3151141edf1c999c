//! An error with its causes in one line, for logs and messages: most types
//! print only their own part, and log formats print only that.

use std::error::Error;
use std::fmt;

pub struct ErrorChain<'a>(pub &'a dyn Error);

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = self.0.to_string();
        let mut cause = self.0.source();
        while let Some(inner) = cause {
            let inner_text = inner.to_string();
            // Some errors already include the text of their cause.
            if !text.contains(&inner_text) {
                text = format!("{}: {inner_text}", text.trim_end_matches('.'));
            }
            cause = inner.source();
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the file is gone")]
    struct Inner;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot start.")]
    struct Outer(#[source] Inner);

    #[derive(Debug, thiserror::Error)]
    #[error("no luck: {0}")]
    struct Repeating(#[source] Inner);

    #[test]
    fn causes_follow_and_are_not_repeated() {
        assert_eq!(ErrorChain(&Outer(Inner)).to_string(), "cannot start: the file is gone");
        assert_eq!(ErrorChain(&Repeating(Inner)).to_string(), "no luck: the file is gone");
    }
}
