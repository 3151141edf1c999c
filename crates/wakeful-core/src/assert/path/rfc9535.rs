//! The examples of RFC 9535, section by section: what each path selects, or why it is rejected.

use super::Path;
use super::tests::{select, tree_path};

/// A document with the paths that are applied to it.
struct Example {
    section: &'static str,
    document: &'static str,
    /// Each with the texts of the nodes it selects.
    selects: &'static [(&'static str, &'static [&'static str])],
    /// Each with the beginning of the reason.
    rejects: &'static [(&'static str, &'static str)],
}

const INVALID: &str = "is not a valid RFC 9535 JSONPath";
const ONE_FILTER: &str = "must have at most one filter";
const ONE_ROOT: &str = "must have `$` only at its beginning";

/// The RFC has the titles of real books; the values here are shorter.
const STORE: &str = r#"{"store": {"book": [
    {"category": "reference", "author": "Rees", "title": "Sayings", "price": 8.95},
    {"category": "fiction", "author": "Waugh", "title": "Sword", "price": 12.99},
    {"category": "fiction", "author": "Melville", "title": "Moby", "isbn": "0-553", "price": 8.99},
    {"category": "fiction", "author": "Tolkien", "title": "Lord", "isbn": "0-395", "price": 22.99}],
    "bicycle": {"color": "red", "price": 399}}}"#;
const ALPHABET: &str = r#"["a", "b", "c", "d", "e", "f", "g"]"#;
const MIXED: &str = r#"{"a": [3, 5, 1, 2, 4, 6, {"b": "j"}, {"b": "k"}, {"b": {}}, {"b": "kilo"}],
    "o": {"p": 1, "q": 2, "r": 3, "s": 5, "t": {"u": 6}}, "e": "f"}"#;
const TREE: &str = r#"{"o": {"j": 1, "k": 2}, "a": [5, 3, [{"j": 4}, {"k": 6}]]}"#;
const DESCENDANTS: &[&str] = &[
    r#"{"j":1,"k":2}"#,
    r#"[5,3,[{"j":4},{"k":6}]]"#,
    "1",
    "2",
    "5",
    "3",
    r#"[{"j":4},{"k":6}]"#,
    r#"{"j":4}"#,
    r#"{"k":6}"#,
    "4",
    "6",
];
const NULLS: &str = r#"{"a": null, "b": [null], "c": [{}], "null": 1}"#;
/// An array around the RFC's document, so that a filter selects all of it or nothing.
const COMPARED: &str = r#"[{"arr": [2, 3], "obj": {"x": "y"}}]"#;
const WHOLE: &[&str] = &[r#"{"arr":[2,3],"obj":{"x":"y"}}"#];

const EXAMPLES: &[Example] = &[
    Example {
        section: "1.5, a book store",
        document: STORE,
        selects: &[
            ("$.store.book[*].author", &["Rees", "Waugh", "Melville", "Tolkien"]),
            ("$..author", &["Rees", "Waugh", "Melville", "Tolkien"]),
            ("$.store.bicycle", &[r#"{"color":"red","price":399}"#]),
            ("$.store..price", &["399", "8.95", "12.99", "8.99", "22.99"]),
            ("$..book[2].author", &["Melville"]),
            ("$..book[2].publisher", &[]),
            ("$..book[-1].title", &["Lord"]),
            ("$..book[0,1].title", &["Sayings", "Sword"]),
            ("$..book[:2].title", &["Sayings", "Sword"]),
            ("$..book[?@.isbn].title", &["Moby", "Lord"]),
            ("$..book[?@.price<10].title", &["Sayings", "Moby"]),
            ("$.store.book[?@.price < 10].title", &["Sayings", "Moby"]),
        ],
        rejects: &[],
    },
    Example {
        section: "2.2, the root",
        document: r#"{"k": "v"}"#,
        selects: &[("$", &[r#"{"k":"v"}"#])],
        rejects: &[("", INVALID), (" $", INVALID), ("$ ", INVALID), ("k", INVALID)],
    },
    Example {
        section: "2.3.1, names",
        document: r#"{"o": {"j j": {"k.k": 3}}, "'": {"@": 2}}"#,
        selects: &[
            ("$.o['j j']", &[r#"{"k.k":3}"#]),
            ("$.o['j j']['k.k']", &["3"]),
            (r#"$.o["j j"]["k.k"]"#, &["3"]),
            (r#"$["'"]["@"]"#, &["2"]),
            ("$['\\'']['@']", &["2"]),
        ],
        rejects: &[("$.o.j j", INVALID), ("$.'o'", INVALID), ("$.1", INVALID)],
    },
    Example {
        section: "2.3.2, wildcards",
        document: r#"{"o": {"j": 1, "k": 2}, "a": [5, 3]}"#,
        selects: &[
            ("$[*]", &["[5,3]", r#"{"j":1,"k":2}"#]),
            ("$.o[*]", &["1", "2"]),
            ("$.o.*", &["1", "2"]),
            ("$.o[*, *]", &["1", "2", "1", "2"]),
            ("$.a[*]", &["5", "3"]),
        ],
        rejects: &[],
    },
    Example {
        section: "2.3.3, indexes",
        document: r#"["a", "b"]"#,
        selects: &[("$[1]", &["b"]), ("$[-2]", &["a"]), ("$[2]", &[]), ("$[-3]", &[])],
        rejects: &[("$[01]", INVALID), ("$[-0]", INVALID), ("$[9007199254740992]", INVALID)],
    },
    Example {
        section: "2.3.4, slices",
        document: ALPHABET,
        selects: &[
            ("$[1:3]", &["b", "c"]),
            ("$[5:]", &["f", "g"]),
            ("$[1:5:2]", &["b", "d"]),
            ("$[5:1:-2]", &["f", "d"]),
            ("$[::-1]", &["g", "f", "e", "d", "c", "b", "a"]),
            ("$[::0]", &[]),
        ],
        rejects: &[],
    },
    Example {
        section: "2.3.5, comparisons",
        document: COMPARED,
        selects: &[
            ("$[?@.absent1 == @.absent2]", WHOLE),
            ("$[?@.absent == 'g']", &[]),
            ("$[?@.absent1 != @.absent2]", &[]),
            ("$[?@.absent != 'g']", WHOLE),
            ("$[?1 <= 2]", WHOLE),
            ("$[?1 > 2]", &[]),
            ("$[?13 == '13']", &[]),
            ("$[?'a' <= 'b']", WHOLE),
            ("$[?'a' > 'b']", &[]),
            ("$[?@.obj == @.arr]", &[]),
            ("$[?@.obj != @.arr]", WHOLE),
            ("$[?@.obj == @.obj]", WHOLE),
            ("$[?@.obj != @.obj]", &[]),
            ("$[?@.arr == @.arr]", WHOLE),
            ("$[?@.arr != @.arr]", &[]),
            ("$[?@.obj == 17]", &[]),
            ("$[?@.obj != 17]", WHOLE),
            ("$[?@.obj <= @.arr]", &[]),
            ("$[?@.obj < @.arr]", &[]),
            ("$[?@.obj <= @.obj]", WHOLE),
            ("$[?@.arr <= @.arr]", WHOLE),
            ("$[?1 <= @.arr]", &[]),
            ("$[?1 >= @.arr]", &[]),
            ("$[?1 > @.arr]", &[]),
            ("$[?1 < @.arr]", &[]),
            ("$[?true <= true]", WHOLE),
            ("$[?true > true]", &[]),
        ],
        rejects: &[("$[?$.absent1 == $.absent2]", ONE_ROOT)],
    },
    Example {
        section: "2.3.5, filters",
        document: MIXED,
        selects: &[
            ("$.a[?@.b == 'kilo']", &[r#"{"b":"kilo"}"#]),
            ("$.a[?(@.b == 'kilo')]", &[r#"{"b":"kilo"}"#]),
            ("$.a[?@>3.5]", &["5", "4", "6"]),
            ("$.a[?@.b]", &[r#"{"b":"j"}"#, r#"{"b":"k"}"#, r#"{"b":{}}"#, r#"{"b":"kilo"}"#]),
            ("$.a[?@<2 || @.b == \"k\"]", &["1", r#"{"b":"k"}"#]),
            ("$.o[?@>1 && @<4]", &["2", "3"]),
            ("$.o[?@.u || @.x]", &[r#"{"u":6}"#]),
            ("$.o[?!@.u]", &["1", "2", "3", "5"]),
            (
                "$.a[?@ == @]",
                &[
                    "3",
                    "5",
                    "1",
                    "2",
                    "4",
                    "6",
                    r#"{"b":"j"}"#,
                    r#"{"b":"k"}"#,
                    r#"{"b":{}}"#,
                    r#"{"b":"kilo"}"#,
                ],
            ),
            ("$[?@.*].p", &["1"]),
        ],
        rejects: &[
            ("$[?@[?@.b]]", ONE_FILTER),
            ("$.o[?@<3, ?@<3]", ONE_FILTER),
            ("$.a[?@.b == $.x]", ONE_ROOT),
            ("$.a[?match(@.b, \"[jk]\")]", INVALID),
            ("$.a[?search(@.b, \"[jk]\")]", INVALID),
        ],
    },
    Example {
        section: "2.4, functions",
        document: r#"[[1], [1, 2, 3], {"x": {"color": "red"}}, {"a": 1, "b": 2}]"#,
        selects: &[
            ("$[?length(@) < 3]", &["[1]", r#"{"x":{"color":"red"}}"#, r#"{"a":1,"b":2}"#]),
            ("$[?count(@.*) == 1]", &["[1]", r#"{"x":{"color":"red"}}"#]),
            ("$[?value(@..color) == \"red\"]", &[r#"{"x":{"color":"red"}}"#]),
        ],
        rejects: &[
            ("$[?length(@.*) < 3]", INVALID),
            ("$[?count(1) == 1]", INVALID),
            ("$[?count(foo(@.*)) == 1]", INVALID),
            ("$[?value(@..color)]", INVALID),
            ("$[?match(@.timezone, 'Europe/.*')]", INVALID),
            ("$[?match(@.timezone, 'Europe/.*') == true]", INVALID),
        ],
    },
    Example {
        section: "2.5.1, children",
        document: ALPHABET,
        selects: &[
            ("$[0, 3]", &["a", "d"]),
            ("$[0:2, 5]", &["a", "b", "f"]),
            ("$[0, 0]", &["a", "a"]),
        ],
        rejects: &[("$[]", INVALID), ("$[0,]", INVALID)],
    },
    Example {
        section: "2.5.2, descendants",
        document: TREE,
        selects: &[
            ("$..j", &["4", "1"]),
            ("$..[0]", &["5", r#"{"j":4}"#]),
            ("$..o", &[r#"{"j":1,"k":2}"#]),
            ("$..*", DESCENDANTS),
            ("$..[*]", DESCENDANTS),
            ("$.o..[*, *]", &["1", "2", "1", "2"]),
            ("$.a..[0, 1]", &["5", "3", r#"{"j":4}"#, r#"{"k":6}"#]),
        ],
        rejects: &[("$..", INVALID), ("$..*..j", "must have at most one `..`")],
    },
    Example {
        section: "2.6, null",
        document: NULLS,
        selects: &[
            ("$.a", &["null"]),
            ("$.a[0]", &[]),
            ("$.a.d", &[]),
            ("$.b[0]", &["null"]),
            ("$.b[*]", &["null"]),
            ("$.b[?@]", &["null"]),
            ("$.b[?@==null]", &["null"]),
            ("$.c[?@.d==null]", &[]),
            ("$.null", &["1"]),
        ],
        rejects: &[],
    },
    Example {
        section: "2.7, normalized paths",
        document: r#"{"a": {"b": [1, 2]}, "\u000b": "tab", "b": ["x", "y", "z"]}"#,
        selects: &[
            ("$['a']['b'][1]", &["2"]),
            ("$.a.b[1:2]", &["2"]),
            ("$.b[-3]", &["x"]),
            (r#"$["\u000B"]"#, &["tab"]),
            (r#"$["\u0061"].b[0]"#, &["1"]),
        ],
        rejects: &[],
    },
];

#[test]
fn the_examples_of_the_specification_are_selected() {
    let mut mistakes = Vec::new();
    for Example { section, document, selects, .. } in EXAMPLES {
        for (path, expected) in *selects {
            let expected = in_order(document, expected.iter().map(|&text| text.to_owned()));
            for evaluation in evaluations(path) {
                let selected = in_order(document, select(document, &evaluation).expect(path));
                if selected != expected {
                    let tree = evaluation.needs_tree();
                    mistakes.push(format!("{section}: {path}, as a tree: {tree}: {selected:?}"));
                }
            }
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// In the order of an array; the members of an object have none.
fn in_order(document: &str, texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.into_iter().collect();
    if document.contains('{') {
        texts.sort_unstable();
    }
    texts
}

/// The path, and the same as a query of a tree if it does not need one.
fn evaluations(path: &str) -> Vec<Path> {
    let parsed = Path::parse(path).expect(path);
    if parsed.needs_tree() { vec![parsed] } else { vec![parsed, tree_path(path)] }
}

/// In the specification, two values that are missing are equal, and so this selects all of it.
#[test]
fn values_that_are_missing_are_equal_and_nevertheless_not_ordered() {
    let path = Path::parse("$[?@.absent1 <= @.absent2]").expect("valid");
    assert_eq!(select(COMPARED, &path), Ok(Vec::new()), "the library was corrected");
}

#[test]
fn the_examples_that_are_invalid_or_not_supported_are_rejected_with_a_reason() {
    for Example { section, rejects, .. } in EXAMPLES {
        for (path, why) in *rejects {
            let error = Path::parse(path).expect_err(path).to_string();
            assert!(error.starts_with(why), "{section}: {path}: {error}");
        }
    }
}
