//! Reads the functions of `goal.h` and their comments, by pages.

/// A page of the manual, with functions that belong together.
#[derive(Debug, Default)]
pub struct Page {
    /// The name of the page, such as `goal_graph`.
    pub name: String,
    /// The subject of the page, in a few words.
    pub title: String,
    /// The paragraphs before the functions.
    pub text: Vec<String>,
    /// The functions, types and macros, in the order of the header.
    pub items: Vec<Item>,
}

/// A declaration of the header.
#[derive(Debug)]
pub struct Item {
    /// The name of the declaration. Empty for an enumeration without a name.
    pub name: String,
    /// The name, if this is a function. `None` for a type or a macro.
    pub function: Option<String>,
    /// The text of the declaration, as in the header.
    pub declaration: String,
    /// The paragraphs of the comment before the declaration.
    pub text: Vec<String>,
}

impl Item {
    /// Returns the type of a function's result and the types of its arguments. Returns `None` for
    /// other items.
    pub fn types(&self) -> Option<(String, Vec<String>)> {
        let name = self.function.as_deref()?;
        let declaration = without_defaults(&self.declaration);
        let (result, rest) = declaration.split_once(&format!("{name}("))?;
        let arguments = rest.rsplit_once(')')?.0;
        let arguments = arguments.split(',').map(|argument| {
            let argument = argument.trim();
            if argument == "void" {
                return String::new();
            }
            let start = argument.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
            argument[..start].trim().to_owned()
        });
        let arguments = arguments.filter(|argument| !argument.is_empty()).collect();
        Some((result.trim().to_owned(), arguments))
    }
}

/// Returns a declaration in one line, without the defaults of C++.
fn without_defaults(declaration: &str) -> String {
    let words: Vec<&str> = declaration.split_whitespace().collect();
    let mut line = words.join(" ");
    while let Some(at) = line.find(" GOAL_DEFAULT(") {
        let end = at + line[at..].find(')').unwrap_or(0);
        line.replace_range(at..=end, "");
    }
    line
}

/// The beginning of each paragraph that is an item of a list.
pub const ITEM: &str = "- ";

/// Returns the paragraphs of a comment, each as one line. An item of a list is a paragraph.
fn paragraphs(comment: &str) -> Vec<String> {
    let lines = comment.lines().map(|line| line.trim().trim_start_matches('*').trim());
    let mut paragraphs = vec![String::new()];
    for line in lines {
        if line.starts_with(ITEM) {
            paragraphs.push(String::new());
        }
        match (line.is_empty(), paragraphs.last_mut()) {
            (true, _) => paragraphs.push(String::new()),
            (false, Some(last)) if last.is_empty() => last.push_str(line),
            (false, Some(last)) => {
                last.push(' ');
                last.push_str(line);
            }
            (false, None) => {}
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

fn is_in_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns the identifier at the start of a text.
fn identifier(text: &str) -> &str {
    text.split(|letter| !is_in_name(letter)).next().unwrap_or_default()
}

/// Returns the identifier at the end of a text.
fn last_identifier(text: &str) -> &str {
    text.rsplit(|letter| !is_in_name(letter)).next().unwrap_or_default()
}

/// Returns the pages of a header. Leaves out what comes before the first comment that begins with
/// PAGE, and what comes after the declarations for C.
pub fn pages(header: &str) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let mut comment = Vec::new();
    let mut declaration = String::new();
    let mut rest = header.split("} /* extern \"C\" */").next().unwrap_or_default();
    loop {
        if declaration.is_empty() {
            rest = rest.trim_start();
        }
        if let Some(inner) = rest.strip_prefix("/*") {
            let (text, after) = inner.split_once("*/").unwrap_or((inner, ""));
            rest = after;
            let mut text = paragraphs(text);
            if let Some(heading) = text.first().and_then(|first| first.strip_prefix("PAGE ")) {
                let (name, title) = heading.split_once(" - ").unwrap_or((heading, ""));
                let (name, title) = (name.to_owned(), title.to_owned());
                text.remove(0);
                pages.push(Page { name, title, text, items: Vec::new() });
                text = Vec::new();
            }
            comment = text;
            continue;
        }
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if line.is_empty() && after.is_empty() {
            return pages;
        }
        rest = after;
        if declaration.is_empty() && (line.starts_with('#') || line.starts_with("extern")) {
            if let (Some(macro_), Some(page)) = (line.strip_prefix("#define "), pages.last_mut()) {
                let name = identifier(macro_).to_owned();
                let text = std::mem::take(&mut comment);
                page.items.push(Item { name, function: None, declaration: line.to_owned(), text });
            }
            continue;
        }
        declaration.push_str(line);
        declaration.push('\n');
        let is_open = declaration.matches('{').count() > declaration.matches('}').count();
        if is_open || !line.trim_end().ends_with(';') {
            continue;
        }
        let whole = std::mem::take(&mut declaration).trim_end().to_owned();
        let is_type = whole.starts_with("typedef") || whole.starts_with("enum");
        let name = match whole.split_once("(*") {
            // This is a typedef of a function.
            Some((_, rest)) if is_type => identifier(rest),
            _ if is_type => last_identifier(whole.trim_end_matches(';')),
            _ => last_identifier(whole.split('(').next().unwrap_or_default()),
        };
        let (name, text) = (name.to_owned(), std::mem::take(&mut comment));
        let function = (!is_type).then(|| name.clone());
        let item = Item { name, function, declaration: whole, text };
        if let Some(page) = pages.last_mut() {
            page.items.push(item);
        }
    }
}

/// Returns all functions of a header.
pub fn functions(header: &str) -> Vec<Item> {
    let items = pages(header).into_iter().flat_map(|page| page.items);
    items.filter(|item| item.function.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\
#define A(x) x
/* PAGE goal_a - things */
/* Adds.\n *\n * Twice:\n * - once\n *   or so\n * - and again */
int GOAL_Add(const void *b, int tag GOAL_DEFAULT(0),
             void *const *more);
typedef enum { A = 1,
  B } GOAL_E;
/* None. */
GOAL_Graph GOAL_None(void);
/* Called. */
typedef void (*GOAL_F)(int a);
/* Twice. */
#define GOAL_TWICE(a) ((a) + (a))
enum { C = 1 };
#ifdef __cplusplus
} /* extern \"C\" */
inline int x();
";

    #[test]
    fn declarations_and_comments() {
        let pages = pages(HEADER);
        assert_eq!(
            (pages.len(), pages[0].name.as_str(), pages[0].title.as_str()),
            (1, "goal_a", "things")
        );
        let names: Vec<_> = pages[0].items.iter().map(|item| item.function.as_deref()).collect();
        assert_eq!(names, [Some("GOAL_Add"), None, Some("GOAL_None"), None, None, None]);
        let names: Vec<_> = pages[0].items.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(names, ["GOAL_Add", "GOAL_E", "GOAL_None", "GOAL_F", "GOAL_TWICE", ""]);
        assert_eq!(pages[0].items[4].text, ["Twice."]);
        assert_eq!(pages[0].items[0].text, ["Adds.", "Twice:", "- once or so", "- and again"]);
        let types = pages[0].items[0].types().unwrap();
        assert_eq!(
            types,
            ("int".into(), vec!["const void *".into(), "int".into(), "void *const *".into()])
        );
        assert_eq!(pages[0].items[2].types().unwrap(), ("GOAL_Graph".into(), vec![]));
    }
}
