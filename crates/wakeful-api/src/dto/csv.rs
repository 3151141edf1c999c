//! Cells of CSV files (RFC 4180).

/// A cell that spreadsheets read as text. Without the guard, a name that starts with a
/// sign would be run as a formula.
pub(crate) fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_never_a_formula() {
        for start in ["=", "+", "-", "@", "\t=", "\r=", "\n="] {
            assert_eq!(cell(&format!("{start}1")), format!("\"'{start}1\""));
        }
        assert_eq!(cell("a \"b\", c"), "\"a \"\"b\"\", c\"");
    }
}
