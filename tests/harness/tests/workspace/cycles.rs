//! Checks that the files of a crate do not import each other in circles.
//!
//! A file imports another one if a `use` or a path in its code leads to an item there. A name that
//! a module re-exports leads to the file that defines it. So a module imports nothing if it only
//! collects the names of its inner modules. Methods, glob imports and the contents of macros are
//! not seen. Tests are left out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use crate::{crates, root};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, VisRestricted, Visibility};

/// Re-exports that lead from one to the next at most.
const REEXPORTS_MAX: usize = 8;

/// A module, in a file of its own or inside another module's.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// The paths in its code.
    paths: Vec<Vec<String>>,
    /// The names that its `use` declarations bring in, with their paths.
    uses: BTreeMap<String, Vec<String>>,
}

/// The modules of a crate, by their paths from its root.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
}

/// Reads the files of a crate.
struct Reader {
    found: Crate,
    /// The module that is being read, and its file.
    at: Vec<String>,
    file: PathBuf,
}

/// The files that each file imports.
type Imports = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// Returns true if an item exists in tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list().map(|list| list.tokens.to_string());
        attribute.path().is_ident("cfg") && list.is_ok_and(|tokens| tokens.contains("test"))
    })
}

/// Adds the names that a `use` below `path` brings in, each with its path.
fn add_uses(tree: &UseTree, mut path: Vec<String>, uses: &mut Vec<(String, Vec<String>)>) {
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            add_uses(&tree.tree, path, uses);
        }
        UseTree::Name(tree) => {
            if tree.ident != "self" {
                path.push(tree.ident.to_string());
            }
            uses.push((path.last().cloned().unwrap_or_default(), path));
        }
        UseTree::Rename(tree) => {
            path.push(tree.ident.to_string());
            uses.push((tree.rename.to_string(), path));
        }
        UseTree::Group(tree) => {
            tree.items.iter().for_each(|tree| add_uses(tree, path.clone(), uses));
        }
        UseTree::Glob(_) => {}
    }
}

impl Reader {
    /// Begins a module.
    fn enter(&mut self) -> &mut Module {
        let module = Module { file: self.file.clone(), ..Module::default() };
        self.found.modules.entry(self.at.clone()).or_insert(module)
    }

    fn module(&mut self) -> &mut Module {
        self.found.modules.get_mut(&self.at).expect("it was entered")
    }

    /// Reads the module's file, and those of the modules in it.
    fn read(&mut self) {
        let text = fs::read_to_string(&self.file);
        let text = text.unwrap_or_else(|error| panic!("{}: {error}", self.file.display()));
        let file = syn::parse_file(&text);
        let file = file.unwrap_or_else(|error| panic!("{}: {error}", self.file.display()));
        self.enter();
        self.visit_file(&file);
    }

    /// Returns the file of a module that the current file declares.
    fn file_of(&self, name: &str) -> PathBuf {
        let folder = match self.file.file_stem().and_then(|stem| stem.to_str()) {
            Some("lib" | "main" | "mod") => self.file.with_file_name(""),
            _ => self.file.with_extension(""),
        };
        let file = folder.join(name).with_extension("rs");
        if file.is_file() { file } else { folder.join(name).join("mod.rs") }
    }
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        let name = item.ident.to_string();
        let inner = if item.content.is_none() { self.file_of(&name) } else { self.file.clone() };
        let outer = std::mem::replace(&mut self.file, inner);
        self.at.push(name);
        if item.content.is_none() {
            self.read();
        } else {
            self.enter();
            visit::visit_item_mod(self, item);
        }
        self.at.pop();
        self.file = outer;
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let mut uses = Vec::new();
        add_uses(&item.tree, Vec::new(), &mut uses);
        let is_private = matches!(item.vis, Visibility::Inherited);
        for (name, path) in uses {
            // A module does not import the names of inner modules that it only re-exports.
            if is_private || matches!(path[0].as_str(), "crate" | "super") {
                self.module().paths.push(path.clone());
            }
            self.module().uses.insert(name, path);
        }
    }

    /// Skips the path in a visibility: it imports nothing.
    fn visit_vis_restricted(&mut self, _: &'ast VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.module().paths.push(names);
        visit::visit_path(self, path);
    }
}

impl Crate {
    fn read(lib: PathBuf) -> Self {
        let mut reader = Reader { found: Self::default(), at: Vec::new(), file: lib };
        reader.read();
        reader.found
    }

    /// Returns the module of this crate that has the item of a path; `None` if there is none. The
    /// path is in the code of the module `from`.
    fn module_of(&self, from: &[String], path: &[String], reexports: usize) -> Option<&Module> {
        let mut at = from.to_vec();
        for (i, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ => {
                    at.push(name.clone());
                    if self.modules.contains_key(&at) {
                        continue;
                    }
                    at.pop();
                    let module = &self.modules[&at];
                    let used = module.uses.get(name).filter(|_| reexports > 0);
                    let used = used.map(|used| [used, &path[i + 1..]].concat());
                    let found = used.and_then(|used| self.module_of(&at, &used, reexports - 1));
                    return found.or((i > 0).then_some(module));
                }
            }
        }
        self.modules.get(&at)
    }

    fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (name, module) in &self.modules {
            let found = module.paths.iter().filter_map(|path| {
                self.module_of(name, path, REEXPORTS_MAX).map(|found| found.file.clone())
            });
            let of_file = imports.entry(module.file.clone()).or_default();
            of_file.extend(found.filter(|file| *file != module.file));
        }
        imports
    }
}

/// Returns a shortest circle of imports that leads from a file back to it, or `None`.
fn circle<'a>(imports: &'a Imports, start: &'a Path) -> Option<Vec<&'a Path>> {
    let mut before: BTreeMap<&Path, &Path> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for next in &imports[file] {
            if next == start {
                let mut circle = vec![start, file];
                while let Some(&file) = before.get(circle[circle.len() - 1]) {
                    circle.push(file);
                }
                circle.reverse();
                return Some(circle);
            }
            if !before.contains_key(&**next) {
                before.insert(next, file);
                queue.push_back(next);
            }
        }
    }
    None
}

/// Returns the circles of imports in the crate whose root is `file`, one for each file that is in
/// any.
fn circles(file: &Path) -> Vec<String> {
    let imports = Crate::read(file.to_owned()).imports();
    let source = file.parent().expect("a folder");
    let name = |file: &&Path| {
        file.strip_prefix(source).expect("a file of the crate").display().to_string()
    };
    let circles = imports.keys().filter_map(|file| circle(&imports, file));
    circles.map(|circle| circle.iter().map(name).collect::<Vec<_>>().join(" -> ")).collect()
}

#[test]
fn files_import_each_other_in_no_circle() {
    let (mut checked, mut faults) = (0, Vec::new());
    for one in crates() {
        let (name, source) = (&one.name, root().join(&one.folder).join("src"));
        let binary = source.join("bin").join(name).join("main.rs");
        for file in [source.join("lib.rs"), binary].into_iter().filter(|file| file.is_file()) {
            checked += 1;
            faults.extend(circles(&file).into_iter().map(|circle| format!("{name}: {circle}")));
        }
    }
    assert!(checked > 0, "no crates were found");
    assert!(faults.is_empty(), "files import each other in circles\n{}", faults.join("\n"));
}

#[test]
fn circles_are_found_behind_reexports() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |file: &str, text: &str| {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    };
    write("lib.rs", "mod a; mod b; mod c; pub use a::A;");
    write("a/mod.rs", "mod inner; pub(crate) use inner::A; #[cfg(test)] mod tests;");
    write("a/inner.rs", "use crate::{b::B, c}; pub struct A(B); fn f() { c::f() }");
    write("b.rs", "mod m { use super::super::c; } pub struct B;");
    write("c.rs", "pub fn f() {} #[cfg(test)] mod tests { use crate::A; }");
    assert_eq!(circles(&folder.path().join("lib.rs")), [""; 0]);
    write("c.rs", "pub fn f() { drop::<Option<crate::A>>(None) }");
    let expected = ["a/inner.rs -> c.rs -> a/inner.rs", "b.rs -> c.rs -> a/inner.rs -> b.rs"];
    assert_eq!(circles(&folder.path().join("lib.rs"))[..2], expected);
}
