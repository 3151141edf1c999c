//! The version of Wakeful that a node runs, for features that all nodes must know.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// A part that is missing or not a number counts as 0: such a node is the oldest.
    pub fn parse(text: &str) -> Self {
        let mut parts = text.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
        let mut next = || parts.next().unwrap_or(0);
        Self(next(), next(), next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(Version::parse("0.10.0") > Version::parse("0.9.9"));
        assert!(Version::parse("1.0.0") > Version::parse("0.99.0"));
        assert_eq!(Version::parse("0.2.0-rc.1"), Version(0, 2, 0));
        assert_eq!(Version::parse("unknown"), Version(0, 0, 0));
    }
}
