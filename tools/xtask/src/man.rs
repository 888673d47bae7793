//! Makes manual pages of section 3 from the header.

use crate::header::{ITEM, Item, Page};
use std::fmt::Write;

/// Returns text with the escapes that make roff show it unchanged.
fn plain(text: &str) -> String {
    text.replace('\\', "\\e").replace('-', "\\-")
}

/// Returns paragraphs as roff. Each but the first begins with `request`, and each item of a list
/// with a bullet.
fn paragraphs(text: &[String], request: &str) -> String {
    let of_one = |(at, paragraph): (usize, &String)| match paragraph.strip_prefix(ITEM) {
        Some(item) => format!(".RS\n.IP \\(bu 2\n{}\n.RE\n", plain(item)),
        None if at == 0 => format!("{}\n", plain(paragraph)),
        None => format!("{request}\n{}\n", plain(paragraph)),
    };
    text.iter().enumerate().map(of_one).collect()
}

/// Returns the table of error codes, from the source that defines them: a name and a sentence for
/// each.
pub fn errors(source: &str) -> Vec<(String, String)> {
    let rows = source.lines().filter(|line| line.contains("\"GOAL_ERR_") && line.contains(" = -"));
    let parts = rows.map(|line| line.split('"').collect::<Vec<_>>());
    parts.filter(|parts| parts.len() == 5).map(|parts| (parts[1].into(), parts[3].into())).collect()
}

/// Returns a page of `pages` as roff. `errors` has a name and a sentence for each error code. The
/// page without functions names the other pages.
pub fn roff(page: &Page, pages: &[Page], errors: &[(String, String)], version: &str) -> String {
    let Page { name, title, text, items } = page;
    let functions: Vec<&str> = items.iter().filter_map(|item| item.function.as_deref()).collect();
    let mut out = format!(".TH {} 3 \"\" \"libgoal {version}\" \"GOAL\"\n", name.to_uppercase());
    let names = [&[name.as_str()], functions.as_slice()].concat().join(", ");
    let _ = write!(out, ".SH NAME\n{names} \\- {}\n", plain(title));
    out += ".SH SYNOPSIS\n.nf\n.B #include <goal.h>\n.sp\n";
    for (at, item) in items.iter().enumerate() {
        let is_line = |item: &Item| item.function.is_none() && !item.declaration.contains('\n');
        let is_in_row = is_line(item) && items.get(at + 1).is_some_and(is_line);
        let space = if is_in_row { "" } else { ".sp\n" };
        let _ = write!(out, "{}\n{space}", plain(&item.declaration));
    }
    out += ".fi\n.SH DESCRIPTION\n";
    out += &paragraphs(text, ".PP");
    for other in pages.iter().filter(|_| functions.is_empty()) {
        if other.name != *name {
            let _ = writeln!(out, ".TP\n.BR {} (3)\n{}", other.name, plain(&other.title));
        }
    }
    for item in items {
        if item.text.is_empty() {
            continue;
        }
        let _ = writeln!(out, ".TP\n.B {}", item.name);
        out += &paragraphs(&item.text, ".IP");
    }
    if items.iter().any(|item| item.declaration.contains("GOAL_DEFAULT(")) {
        out += ".PP\nGOAL_DEFAULT is the value of an argument that is left out in C++.\n";
    }
    out += ".SH ERRORS\n";
    if name == "goal_errors" {
        for (at, (code, sentence)) in (1..).zip(errors) {
            let _ =
                writeln!(out, ".TP\n.B {code} ({})\n{}", plain(&format!("-{at}")), plain(sentence));
        }
    } else {
        out += "After an error a function returns a negative code, NULL or GOAL_INVALID_VERTEX.\n";
        out += ".BR GOAL_Last_error (3)\nreturns the text.\n";
    }
    out +=
        ".SH SEE ALSO\n.BR goal (3),\n.BR goal_errors (3),\n.BR goal\\-run (1),\n.BR goalc (1)\n";
    out
}

/// Returns the file for a function. It only refers to the function's page.
pub fn alias(page: &Page) -> String {
    format!(".so man3/{}.3\n", page.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::pages;

    const HEADER: &str = "/* PAGE goal_a - things\n *\n * Some-thing. */\n\
        /* Adds.\n *\n * Not:\n * - one\n * - two */\nint GOAL_Add(void);\n";

    #[test]
    fn a_page_shows_everything() {
        let pages = pages(HEADER);
        let page = &pages[0];
        let text = roff(page, &pages, &[], "0.1.0");
        for part in [
            "goal_a, GOAL_Add \\- things",
            "Some\\-thing.",
            ".B GOAL_Add\nAdds.\n.IP\nNot:\n.RS\n.IP \\(bu 2\none\n.RE\n.RS\n.IP \\(bu 2\ntwo\n.RE\n",
            "int GOAL_Add(void);",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert_eq!(alias(page), ".so man3/goal_a.3\n");
        assert!(!text.contains("GOAL_DEFAULT"), "nothing has a default:\n{text}");
    }

    #[test]
    fn the_page_without_functions_names_the_others() {
        let header = format!("/* PAGE goal - all */\n#define A 1\n#define B 2\n{HEADER}");
        let pages = pages(&header);
        let text = roff(&pages[0], &pages, &[], "0.1.0");
        for part in ["\ngoal \\- all\n", ".BR goal_a (3)\nthings\n", "#define A 1\n#define B 2\n"] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(!text.contains(".BR goal (3)\nall"), "it names itself:\n{text}");
    }

    #[test]
    fn codes_are_read_from_their_table() {
        let source =
            "    /// A call.\n    Init = -1, \"GOAL_ERR_INIT\", \"the group, initialized\";\n";
        assert_eq!(
            errors(source),
            [("GOAL_ERR_INIT".to_owned(), "the group, initialized".to_owned())]
        );
    }
}
