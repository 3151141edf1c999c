//! The words of this project: what people read, in code, documents and texts, uses
//! the vocabulary of the field, in American spelling. Some of these words had another
//! meaning here once.

use std::path::{Path, PathBuf};

/// What each is to be replaced by depends on the sentence.
const FORBIDDEN: &[(&str, &str)] = &[
    ("told", "notified, reported, shown or returned"),
    ("letter", "mail or email"),
    ("letters", "mails or emails"),
    ("anew", "again"),
    ("whoever", "a noun: the caller, the client, the recipient"),
    ("whom", "a noun: the recipient"),
    ("for good", "permanently"),
    ("let go", "deleted, released or expired"),
    ("looked after", "handled or managed"),
    ("looks after", "handles or manages"),
    ("cared for", "handled or managed"),
    ("once more", "again"),
    ("by itself", "automatically"),
    ("a look", "a check"),
    ("buried", "evicted"),
    ("put off", "deferred"),
    ("puts off", "defers"),
    // The spelling is American.
    ("behaviour", "behavior"),
    ("cancelled", "canceled"),
    ("cancelling", "canceling"),
    ("catalogue", "catalog"),
    ("centre", "center"),
    ("colour", "color"),
    ("colours", "colors"),
    ("favour", "favor"),
    ("grey", "gray"),
    ("honoured", "honored"),
    ("initialise", "initialize"),
    ("labelled", "labeled"),
    ("licence", "license"),
    ("licences", "licenses"),
    ("normalise", "normalize"),
    ("optimise", "optimize"),
    ("optimised", "optimized"),
    ("optimises", "optimizes"),
    ("organisation", "organization"),
    ("practise", "practice"),
    ("recognise", "recognize"),
    ("recognised", "recognized"),
    ("sanitised", "sanitized"),
    ("summarise", "summarize"),
    ("synchronise", "synchronize"),
    ("synchronised", "synchronized"),
    ("towards", "toward"),
];

/// Lines that may contain one, by a part of the line, with the reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("letter case", "of text"),
    ("letter-spacing", "CSS"),
    ("first-letter", "CSS"),
    ("letters, digits", "characters of a name"),
    ("stand for letters", "characters of a password"),
    ("let letter = |symbol|", "a character of a password"),
    ("map(letter)", "a character of a password"),
    ("lower case letters", "characters of a password"),
    ("letters have been replaced", "characters of a password"),
    ("without its letters", "characters of a timestamp"),
    ("cancelled()", "tokio"),
    ("\"cancelled", "the state of a membership, as stored and returned"),
    ("cancelled\"", "the state of a membership, as stored and returned"),
    ("cancelled: \"", "the state of a membership, as stored and returned"),
    ("cancelled: ", "the field of a maintenance, as stored and returned"),
    ("(\"grey\",", "a color's name in the address of a badge"),
    (".cancelled", "the field of a maintenance, as stored and returned"),
];

const FOLDERS: &[&str] = &["crates", "docs", "scripts", "web/src", "web/e2e", "web/screenshots"];
const KINDS: &[&str] = &["rs", "md", "toml", "html", "ts", "tsx", "css", "py", "sh", "json"];
/// Migrations must never change, the schema is generated, licenses are quoted, and this file
/// lists the words.
const EXCLUDED: &[&str] =
    &["migrations", "node_modules", "schema.d.ts", "LICENSE", "vocabulary.rs"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if EXCLUDED.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_none_or(|kind| KINDS.iter().any(|known| kind == *known)) {
            found.push(path);
        }
    }
}

/// Whether a line contains the words, not as a part of others. Names in code are
/// made of words, too.
fn contains(line: &str, words: &str) -> bool {
    let is_word = |part: &str| part.replace(['_', '-'], " ") == words;
    line.match_indices(words.split(' ').next().unwrap_or(words)).any(|(at, _)| {
        let Some(part) = line.get(at..at + words.len()) else { return false };
        let before = line[..at].chars().next_back();
        let after = line[at + words.len()..].chars().next();
        let apart = |next: Option<char>| next.is_none_or(|next| !next.is_alphabetic());
        is_word(part) && apart(before) && apart(after)
    })
}

#[test]
fn words_are_found_in_sentences_and_in_names() {
    assert!(contains("nobody is told", "told"));
    assert!(contains("fn is_told_again()", "told"));
    assert!(contains("it is put off.", "put off"));
    assert!(contains("fn put_off()", "put off"));
    assert!(!contains("stolder", "told"));
    assert!(!contains("input offset", "put off"));
}

#[test]
fn no_text_uses_a_forbidden_word() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut all = Vec::new();
    for folder in FOLDERS {
        files(&root.join(folder), &mut all);
    }
    let documents = std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path());
    all.extend(documents.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
    assert!(all.len() > 300, "{} files were found", all.len());
    let mut wrong = Vec::new();
    for file in all {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        for (number, line) in text.lines().enumerate() {
            let lower = line.to_lowercase();
            if EXCEPTIONS.iter().any(|(part, _)| lower.contains(part)) {
                continue;
            }
            for (word, better) in FORBIDDEN.iter().filter(|(word, _)| contains(&lower, word)) {
                let at = format!("{}:{}", file.display(), number + 1);
                wrong.push(format!("{at}: \"{word}\": write {better}: {}", line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
