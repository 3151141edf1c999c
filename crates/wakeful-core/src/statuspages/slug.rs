//! The slug of a status page: its name in URLs, unique in the installation.

use data_encoding::BASE32_NOPAD;

use crate::Invalid;

pub const MIN_LENGTH: usize = 2;
pub const MAX_LENGTH: usize = 63;
/// Paths below `/status/` that are not pages.
const RESERVED: [&str; 3] = ["assets", "api", "preview"];

/// A slug as a user has written it.
pub fn parse(text: &str) -> Result<String, Invalid> {
    let slug = text.trim().to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !(MIN_LENGTH..=MAX_LENGTH).contains(&slug.len()) || !slug.chars().all(plain) {
        return Err(Invalid::new("must have 2 to 63 of the characters a-z, 0-9 and -"));
    }
    if RESERVED.contains(&slug.as_str()) {
        return Err(Invalid::new("must not be one of assets, api, preview"));
    }
    Ok(slug)
}

/// The numbers that are tried for pages of the same name, before random suffixes.
const MAX_NUMBER: u32 = 9;

/// A slug made of the name of a page. `attempt` numbers the ones that were taken; `random` makes
/// a suffix that is free when the first numbers are not.
pub fn of_name(name: &str, attempt: u32, random: [u8; 5]) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        match c {
            'ä' | 'Ä' => slug.push_str("ae"),
            'ö' | 'Ö' => slug.push_str("oe"),
            'ü' | 'Ü' => slug.push_str("ue"),
            'ß' => slug.push_str("ss"),
            c if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= MAX_LENGTH - 8 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    let slug = if parse(slug).is_ok() { slug.to_owned() } else { format!("status-{slug}") };
    let slug = slug.trim_end_matches('-');
    match attempt {
        0 => slug.to_owned(),
        1..MAX_NUMBER => format!("{slug}-{}", attempt + 1),
        _ => {
            let suffix = BASE32_NOPAD.encode(&random).to_ascii_lowercase();
            format!("{slug}-{}", &suffix[..6])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_lower_case_and_not_reserved() {
        assert_eq!(parse(" Acme-2 "), Ok("acme-2".to_owned()));
        assert!(parse(&"x".repeat(63)).is_ok());
        for wrong in ["", "a", "two words", "ä-b", "api", "Assets", "preview", "a/b", "a.b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
        assert!(parse(&"x".repeat(64)).is_err());
    }

    #[test]
    fn a_slug_of_a_name_is_always_valid() {
        for (name, slug) in [
            ("Acme Inc.", "acme-inc"),
            ("Müller & Söhne", "mueller-soehne"),
            ("API", "status-api"),
            ("日本", "status"),
            ("x", "status-x"),
        ] {
            assert_eq!(of_name(name, 0, [0; 5]), slug);
        }
        assert_eq!(of_name("Acme", 1, [0; 5]), "acme-2");
        assert_eq!(of_name("Acme", 9, [0xff; 5]), "acme-777777");
        for name in ["very long ", "ü"] {
            let long = of_name(&name.repeat(60), 9_999, [7; 5]);
            assert_eq!(parse(&long), Ok(long.clone()));
        }
    }
}
