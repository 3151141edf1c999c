//! The style sheet of a page with colors or rules of its own: the common one, then the
//! page's, in a later cascade layer.

use wakeful_core::statuspages::css::readable;
use wakeful_core::statuspages::snapshot::{Appearance, Color};

use super::{assets, etag};

/// The backgrounds of text in `page.css`.
pub(super) const LIGHT: Color = Color { red: 0xff, green: 0xff, blue: 0xff };
pub(super) const DARK: Color = Color { red: 0x11, green: 0x18, blue: 0x27 };

pub(super) fn sheet(appearance: &Appearance) -> String {
    let mut css = assets::STYLE.to_owned();
    css.push_str(&own_rules(appearance));
    css
}

/// What the page adds to the common style sheet.
pub(super) fn own_rules(appearance: &Appearance) -> String {
    let mut css = String::new();
    if let Some(accent) = appearance.accent {
        let (light, dark) = (readable(accent, LIGHT), readable(accent, DARK));
        css.push_str(&format!(
            "@layer page{{:root{{--accent:{accent};--link-light:{light};--link-dark:{dark}}}}}\n"
        ));
    }
    if !appearance.custom_css.is_empty() {
        css.push_str("@layer custom{\n");
        css.push_str(&appearance.custom_css);
        css.push_str("\n}\n");
    }
    css
}

/// Changes with the style sheet, for its address.
pub(super) fn hash(appearance: &Appearance) -> String {
    etag::short_hash(sheet(appearance).as_bytes())
}

#[cfg(test)]
mod tests {
    use wakeful_core::statuspages::css::contrast;

    use super::*;

    #[test]
    fn the_backgrounds_are_those_of_the_style_sheet() {
        for background in [LIGHT, DARK] {
            assert!(assets::STYLE.contains(&format!("--bg:{background}")), "{background}");
        }
    }

    /// WCAG: 3:1 for graphics, 4.5:1 for text.
    #[test]
    fn bars_and_statuses_are_visible_in_both_color_schemes() {
        let bars = assets::STYLE.lines().filter(|line| line.starts_with(".bars"));
        let fills = bars.flat_map(|line| line.split("fill: var(--").skip(1));
        let fills: Vec<&str> = fills.filter_map(|rest| rest.split(')').next()).collect();
        assert_eq!(fills, ["ok", "no-data", "maint", "minor", "crit"]);
        // The light colors, and the dark ones: by the choice of the visitor, and of the page.
        let schemes = assets::STYLE.split(":root").filter(|rules| rules.contains("--bg:"));
        let mut count = 0;
        for scheme in schemes {
            count += 1;
            let color = |name: &str| {
                let (_, value) = scheme.split_once(&format!("--{name}:")).expect("the variable");
                Color::parse(&value[..7]).expect("a color")
            };
            for name in fills.iter().copied() {
                let ratio = contrast(color(name), color("bg"));
                assert!(ratio >= 3.0, "--{name} has {ratio:.2} in {scheme}");
            }
            for name in ["ok", "maint", "minor", "major", "crit", "none", "soft", "fg"] {
                for background in ["bg", "panel"] {
                    let ratio = contrast(color(name), color(background));
                    assert!(ratio >= 4.5, "--{name} on --{background} has {ratio:.2} in {scheme}");
                }
            }
        }
        assert_eq!(count, 3);
    }

    #[test]
    fn an_accent_and_custom_rules_follow_the_common_ones() {
        let appearance = Appearance {
            accent: Some(Color::parse("#ffee00").expect("a color")),
            custom_css: "h1{color:red}".to_owned(),
            ..Appearance::default()
        };
        let sheet = sheet(&appearance);
        assert!(sheet.starts_with(assets::STYLE));
        assert!(sheet.ends_with("@layer custom{\nh1{color:red}\n}\n"), "{sheet}");
        assert!(sheet.contains("--accent:#ffee00;--link-light:#"), "{sheet}");
        assert_ne!(hash(&appearance), hash(&Appearance::default()));
    }
}
