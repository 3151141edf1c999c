//! The languages of status pages, and texts in several of them.

use serde::Serialize;
use std::fmt;

use crate::stored_as_text::stored_as_text;
use crate::{Invalid, named_enum};

named_enum! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Language {
        #[default]
        English = "en",
        German = "de",
        French = "fr",
        Spanish = "es",
        Dutch = "nl",
        Portuguese = "pt",
        Japanese = "ja",
        Arabic = "ar",
    }
}

impl Language {
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|language| language.as_str() == text);
        found.ok_or_else(|| Invalid::one_of(Self::ALL.iter().map(|one| one.as_str())))
    }

    /// The value of the `dir` attribute.
    pub fn direction(self) -> &'static str {
        if self == Self::Arabic { "rtl" } else { "ltr" }
    }

    /// The name of the language in the language itself.
    pub fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::French => "Français",
            Self::Spanish => "Español",
            Self::Dutch => "Nederlands",
            Self::Portuguese => "Português",
            Self::Japanese => "日本語",
            Self::Arabic => "العربية",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

stored_as_text!(Language);

/// A text in the default language of its page, with its translations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Localized {
    pub text: String,
    pub translations: Vec<(Language, String)>,
}

impl Localized {
    /// The text in a language, or else in the default language.
    pub fn get(&self, language: Language) -> &str {
        self.translation(language).unwrap_or(&self.text)
    }

    /// The text in a language other than the default one, unless it is missing.
    pub fn translation(&self, language: Language) -> Option<&str> {
        let found =
            self.translations.iter().find(|(one, text)| *one == language && !text.is_empty());
        found.map(|(_, text)| text.as_str())
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The bytes of the text and its translations.
    pub fn bytes(&self) -> usize {
        self.text.len() + self.translations.iter().map(|(_, text)| text.len()).sum::<usize>()
    }
}

impl From<&str> for Localized {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for Localized {
    fn from(text: String) -> Self {
        Self { text, translations: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_translation_falls_back_to_the_default_language() {
        let translations =
            vec![(Language::German, "Netz".to_owned()), (Language::Dutch, String::new())];
        let name = Localized { text: "Network".to_owned(), translations };
        assert_eq!(name.get(Language::German), "Netz");
        assert_eq!(name.get(Language::Dutch), "Network");
        assert_eq!(name.get(Language::Arabic), "Network");
        assert_eq!(Language::parse("de"), Ok(Language::German));
        assert!(Language::parse("DE").is_err());
    }
}
