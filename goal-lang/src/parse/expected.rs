//! The tokens that the grammar expects at the place of a syntax error, in words.

use crate::suggest::nearest;

/// The place of the parser at a syntax error.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Where {
    Block,
    Bare,
    Outside,
}

/// Returns the expected keyword that is most similar to a word, if one is similar enough.
pub(super) fn meant(text: &[u8], start: usize, len: u32, expected: &[String]) -> Option<String> {
    let keywords =
        expected.iter().filter_map(|terminal| terminal.strip_prefix('"')?.strip_suffix('"'));
    let keywords = keywords.filter(|keyword| !matches!(*keyword, "blocks" | "bare" | "inside"));
    let near = nearest(
        &text[start..start + len as usize],
        keywords.map(|keyword| keyword.as_bytes().to_vec()),
    )?;
    String::from_utf8(near).ok()
}

/// Lists the tokens that are allowed at a place, in the words of the language.
pub(super) fn alternatives(expected: &[String]) -> String {
    let has = |name: &str| expected.iter().any(|terminal| terminal == name);
    let mut words: Vec<&str> = Vec::new();
    for terminal in expected {
        words.push(match terminal.as_str() {
            "\"send\"" if has("label_def") && has("waiter") => "a statement",
            "\"send\"" | "\"recv\"" | "\"calc\"" | "\"exec\"" | "\"nop\"" if has("waiter") => {
                continue;
            }
            "\"send\"" => "an operation (`send`, `recv`, `calc`, `exec` or `nop`)",
            "\"recv\"" | "\"calc\"" | "\"exec\"" | "\"nop\"" => continue,
            "\"requ\"" | "\"init\"" | "\"expect\"" | "\"scratch\"" | "label_def" | "waiter"
            | "\"coll\"" | "nccl"
                if has("\"send\"") =>
            {
                continue;
            }
            "\"blocks\"" | "\"bare\"" | "\"inside\"" => continue,
            "\";\"" | "plain" | "plain_dependency" | "batch" => continue,
            "\"rank\"" => "a rank block",
            "name" => "a label",
            "word" if has("float") => "a value",
            "int" | "negative" | "float" if has("word") && has("float") => continue,
            "word" => "a name such as `sumInt32`",
            "negative" | "relative" => continue,
            "int" => "a number",
            "bytes" => "a size such as `8b`",
            "\"[\"" => "a list of buffers `[A,S A,S]`",
            "\"@\"" => "a scratch buffer `@OFFSET,SIZE`",
            other => other,
        });
    }
    let words: Vec<String> = words.iter().map(|word| word.replace('"', "`")).collect();
    match words.as_slice() {
        [] => "nothing more".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}
