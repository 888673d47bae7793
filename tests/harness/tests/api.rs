//! Compares the public items of every library crate with the lists in `docs/api/`. After an
//! intended change, `GOAL_BLESS=1 cargo test -p goal-filetest --test api` writes the lists anew.
//!
//! A list has a line for each item that another crate can name: its kind and its path. Items that a
//! macro defines are not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use syn::{Attribute, ImplItem, Item, TraitItem, Type, UseTree, Visibility};

/// A module of a crate, with the modules in it.
#[derive(Default)]
struct Module {
    items: Vec<Item>,
    modules: BTreeMap<String, Module>,
}

/// The methods and constants of an `impl` block.
struct Members {
    /// The module of the block.
    module: Vec<String>,
    /// The name of its type.
    of: String,
    names: Vec<(&'static str, String)>,
}

/// A name that a path leads to.
enum Target<'a> {
    Module(Vec<String>, &'a Module),
    Item(Vec<String>, &'a Item),
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// Returns true if an item exists in tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list().map(|list| list.tokens.to_string());
        attribute.path().is_ident("cfg") && list.is_ok_and(|tokens| tokens.contains("test"))
    })
}

/// Returns the kind, the name, the visibility and the attributes of an item that has all of them.
fn named(item: &Item) -> Option<(&'static str, String, &Visibility, &[Attribute])> {
    Some(match item {
        Item::Const(i) => ("const", i.ident.to_string(), &i.vis, &i.attrs),
        Item::Enum(i) => ("enum", i.ident.to_string(), &i.vis, &i.attrs),
        Item::Fn(i) => ("fn", i.sig.ident.to_string(), &i.vis, &i.attrs),
        Item::Static(i) => ("static", i.ident.to_string(), &i.vis, &i.attrs),
        Item::Struct(i) => ("struct", i.ident.to_string(), &i.vis, &i.attrs),
        Item::Trait(i) => ("trait", i.ident.to_string(), &i.vis, &i.attrs),
        Item::Type(i) => ("type", i.ident.to_string(), &i.vis, &i.attrs),
        Item::Union(i) => ("union", i.ident.to_string(), &i.vis, &i.attrs),
        _ => return None,
    })
}

impl Module {
    /// Reads a source file. `folder` holds the files of the modules in it.
    fn read(file: &Path, folder: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        Self::of(parsed.items, folder)
    }

    fn of(items: Vec<Item>, folder: &Path) -> Self {
        let mut module = Self::default();
        for item in items {
            if let Item::Mod(inner) = &item
                && !is_for_tests(&inner.attrs)
            {
                let name = inner.ident.to_string();
                let folder = folder.join(&name);
                let read = match &inner.content {
                    Some((_, items)) => Self::of(items.clone(), &folder),
                    None if folder.with_extension("rs").is_file() => {
                        Self::read(&folder.with_extension("rs"), &folder)
                    }
                    None => Self::read(&folder.join("mod.rs"), &folder),
                };
                module.modules.insert(name, read);
            }
            module.items.push(item);
        }
        module
    }

    fn at(&self, path: &[String]) -> Option<&Module> {
        path.iter().try_fold(self, |module, name| module.modules.get(name))
    }

    /// Adds the members of every `impl` block without a trait in this module and those below it.
    fn members(&self, path: &[String], found: &mut Vec<Members>) {
        for item in &self.items {
            let Item::Impl(block) = item else { continue };
            let Type::Path(of) = &*block.self_ty else { continue };
            if block.trait_.is_some() || is_for_tests(&block.attrs) {
                continue;
            }
            let names = block.items.iter().filter_map(|item| match item {
                ImplItem::Fn(f) if is_public(&f.vis) && !is_for_tests(&f.attrs) => {
                    Some(("fn", f.sig.ident.to_string()))
                }
                ImplItem::Const(c) if is_public(&c.vis) => Some(("const", c.ident.to_string())),
                _ => None,
            });
            let of = of.path.segments.last().expect("a path has a name").ident.to_string();
            found.push(Members { module: path.to_vec(), of, names: names.collect() });
        }
        for (name, module) in &self.modules {
            module.members(&[path, std::slice::from_ref(name)].concat(), found);
        }
    }
}

/// The paths of a `use` item: each with the name that it gets, `*` for all names.
fn leaves(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    let mut leaf = |name: String, as_name: String| {
        let mut path = path.clone();
        path.extend((name != "self" && name != "*").then_some(name));
        found.push((path, as_name));
    };
    match tree {
        UseTree::Path(inner) => {
            path.push(inner.ident.to_string());
            leaves(&inner.tree, path, found);
            path.pop();
        }
        UseTree::Name(name) => leaf(name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(name) => leaf(name.ident.to_string(), name.rename.to_string()),
        UseTree::Glob(_) => leaf("*".to_owned(), "*".to_owned()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, path, found)),
    }
}

fn uses(item: &Item) -> Vec<(Vec<String>, String)> {
    let mut found = Vec::new();
    if let Item::Use(item) = item {
        leaves(&item.tree, &mut Vec::new(), &mut found);
    }
    found
}

/// The public items of a crate.
struct Listing<'a> {
    root: &'a Module,
    members: Vec<Members>,
    /// Paths with kinds.
    lines: BTreeSet<(String, &'static str)>,
}

impl<'a> Listing<'a> {
    /// Returns the target of `path`, as it is written in the module `from`. Returns `None` if it is
    /// in another crate.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Target<'a>> {
        let mut at = from.to_vec();
        let mut path = path;
        while let Some((first, rest)) = path.split_first() {
            match first.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                _ => break,
            }
            path = rest;
        }
        while let Some((first, rest)) = path.split_first() {
            let module = self.root.at(&at)?;
            let is_module = module.modules.contains_key(first);
            // The last name may be that of a module and of an item. Then the item is meant: a
            // module that is meant is public, and its items have other names.
            if is_module && !rest.is_empty() {
                at.push(first.clone());
                path = rest;
                continue;
            }
            let is_item = |item: &&Item| named(item).is_some_and(|(_, name, ..)| name == *first);
            if let Some(item) = module.items.iter().find(is_item) {
                return rest.is_empty().then_some(Target::Item(at, item));
            }
            // The name may be imported into the module.
            let imported = module.items.iter().flat_map(uses).find_map(|(mut imported, name)| {
                if depth == 0 || (name != *first && name != "*") {
                    return None;
                }
                imported.extend((name == "*").then(|| first.clone()));
                imported.extend(rest.iter().cloned());
                // A glob of this very module would be followed for ever.
                self.resolve(&at, &imported, depth - 1)
            });
            if imported.is_some() || !is_module {
                return imported;
            }
            at.push(first.clone());
            path = rest;
        }
        let module = self.root.at(&at)?;
        Some(Target::Module(at, module))
    }

    fn line(&mut self, kind: &'static str, path: &str, name: &str) {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") };
        self.lines.insert((path, kind));
    }

    /// Adds the public items of a module, which other crates know by the path `public`.
    fn module(&mut self, at: &[String], module: &'a Module, public: &str) {
        for item in &module.items {
            if let Item::Mod(inner) = item {
                let name = inner.ident.to_string();
                if is_public(&inner.vis)
                    && let Some(inner) = module.modules.get(&name)
                {
                    self.line("mod", public, &name);
                    let below = [at, std::slice::from_ref(&name)].concat();
                    let path = if public.is_empty() { name } else { format!("{public}::{name}") };
                    self.module(&below, inner, &path);
                }
            } else if let Item::Use(statement) = item {
                if is_public(&statement.vis) && !is_for_tests(&statement.attrs) {
                    for (path, name) in uses(item) {
                        self.imported(at, &path, &name, public);
                    }
                }
            } else if let Some((_, name, visibility, attributes)) = named(item)
                && is_public(visibility)
                && !is_for_tests(attributes)
            {
                self.item(at, item, public, &name);
            }
        }
    }

    fn imported(&mut self, at: &[String], path: &[String], name: &str, public: &str) {
        match self.resolve(at, path, 8) {
            Some(Target::Item(module, item)) => self.item(&module, item, public, name),
            Some(Target::Module(path, module)) if name == "*" => self.module(&path, module, public),
            Some(Target::Module(path, module)) => {
                self.line("mod", public, name);
                let public =
                    if public.is_empty() { name.to_owned() } else { format!("{public}::{name}") };
                self.module(&path, module, &public);
            }
            None => self.line("use", public, &format!("{name} = {}", path.join("::"))),
        }
    }

    /// Adds an item, with its fields, variants and methods.
    fn item(&mut self, module: &[String], item: &Item, public: &str, name: &str) {
        let Some((kind, own_name, ..)) = named(item) else { return };
        self.line(kind, public, name);
        let path = if public.is_empty() { name.to_owned() } else { format!("{public}::{name}") };
        match item {
            Item::Struct(item) => {
                for (index, field) in item.fields.iter().enumerate() {
                    let field_name =
                        field.ident.as_ref().map_or(index.to_string(), |i| i.to_string());
                    if is_public(&field.vis) {
                        self.line("field", &path, &field_name);
                    }
                }
            }
            Item::Enum(item) => {
                for variant in &item.variants {
                    self.line("variant", &path, &variant.ident.to_string());
                }
            }
            Item::Trait(item) => {
                for item in &item.items {
                    match item {
                        TraitItem::Fn(f) => self.line("fn", &path, &f.sig.ident.to_string()),
                        TraitItem::Const(c) => self.line("const", &path, &c.ident.to_string()),
                        TraitItem::Type(t) => self.line("type", &path, &t.ident.to_string()),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        // Of several types with the name, a block belongs to the one that is nearest to it.
        let shared = |block: &Members| {
            block.module.iter().zip(module).take_while(|(one, other)| one == other).count()
        };
        let is_here = |block: &Members| {
            shared(block) == module.len() || !self.defines(&block.module, &own_name)
        };
        let blocks = self.members.iter().filter(|block| block.of == own_name && is_here(block));
        let names: Vec<_> = blocks.flat_map(|block| block.names.clone()).collect();
        for (kind, name) in names {
            self.line(kind, &path, &name);
        }
    }

    /// Returns true if a module defines a type with this name.
    fn defines(&self, module: &[String], name: &str) -> bool {
        let is_it = |item: &Item| named(item).is_some_and(|(_, own, ..)| own == name);
        self.root.at(module).is_some_and(|module| module.items.iter().any(is_it))
    }
}

/// Returns the list of the public items of the crate in a folder.
fn list(source: &Path) -> String {
    let root = Module::read(&source.join("lib.rs"), source);
    let mut members = Vec::new();
    root.members(&[], &mut members);
    let mut listing = Listing { root: &root, members, lines: BTreeSet::new() };
    listing.module(&[], &root, "");
    listing.lines.iter().map(|(path, kind)| format!("{kind} {path}\n")).collect()
}

#[test]
fn public_items_are_those_of_docs_api() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lists = root.join("docs/api");
    let is_blessing = std::env::var_os("GOAL_BLESS").is_some();
    let mut wrong = Vec::new();
    for entry in fs::read_dir(&root).expect("the workspace can be read") {
        let folder = entry.expect("the workspace can be read").path();
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if !name.starts_with("goal") || !folder.join("src/lib.rs").is_file() {
            continue;
        }
        let (found, file) = (list(&folder.join("src")), lists.join(format!("{name}.txt")));
        if is_blessing {
            fs::create_dir_all(&lists).and_then(|()| fs::write(&file, found)).expect("written");
            continue;
        }
        let wanted = fs::read_to_string(&file).unwrap_or_default();
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
        let (found, wanted) = (lines(&found), lines(&wanted));
        wrong.extend(wanted.difference(&found).map(|line| format!("{name}: - {line}")));
        wrong.extend(found.difference(&wanted).map(|line| format!("{name}: + {line}")));
    }
    assert!(
        wrong.is_empty(),
        "the public items changed; if that is intended, run \
         GOAL_BLESS=1 cargo test -p goal-filetest --test api\n{}",
        wrong.join("\n")
    );
}
