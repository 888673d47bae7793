//! Labels and the dependencies between them.

use super::block::{Dependencies, DependencyKind, Pending};
use super::builder::{Builder, quote};
use crate::diag::{Code, Diagnostic};
use crate::ids::ActionId;
use crate::limits::LABEL_BYTES_MAX;
use crate::print::RESERVED;
use crate::program::Edge;
use crate::source::{Position, Span};

impl Builder<'_> {
    #[inline]
    pub(super) fn define(&mut self, start: usize, len: u32, id: ActionId) {
        if self.options.debug {
            let name = std::str::from_utf8(self.slice(start, len)).unwrap_or_default();
            self.block.body.debug.labels.push(name);
        }
        self.check_name(start, len);
        let inserted = self.labels.insert(self.text, start, len, id);
        // Whether a dependency names the label is known when the rank is resolved.
        self.block.has_duplicates |= inserted.is_err();
    }

    /// Returns true if a name can be a label, otherwise reports it.
    #[inline]
    fn check_name(&mut self, start: usize, len: u32) -> bool {
        let name = self.slice(start, len);
        // Reserved words have 2 to 9 letters. For most labels the first and the last byte already
        // rule out a reserved word.
        let (first, last) = (name[0], name[name.len() - 1]);
        let suspicious =
            matches!(first, b's' | b'r' | b'e' | b't' | b'w' | b'f' | b'u' | b'c' | b'n')
                && last.is_ascii_lowercase()
                && RESERVED.iter().any(|word| word.as_bytes() == name);
        let refused = suspicious || name.len() > LABEL_BYTES_MAX;
        if refused {
            self.bad_name(start, len);
        }
        !refused
    }

    #[cold]
    fn bad_name(&mut self, start: usize, len: u32) {
        let span = self.span(start, start + len as usize);
        if len as usize > LABEL_BYTES_MAX {
            return self.report.add(Code::LimitExceeded, || {
                let message = format!("a label of {len} bytes; the longest has {LABEL_BYTES_MAX}");
                Diagnostic::new(Code::LimitExceeded, message)
                    .label(span, "this label")
                    .note("every place that names a label repeats it")
                    .help("use a shorter label")
            });
        }
        let name = quote(self.slice(start, len));
        self.report.add(Code::ReservedWord, || {
            Diagnostic::new(
                Code::ReservedWord,
                format!("{name} is a word of the language, not a label"),
            )
            .label(span, "used as a label here")
            .note(format!("reserved are {}", RESERVED.join(", ")))
            .help(format!("choose another name, such as `{}_1`", name.trim_matches('`')))
        });
    }

    /// Adds a dependency of `waiter` on `prerequisite`. Each is the start and length of a label.
    #[inline]
    pub(crate) fn depend(
        &mut self,
        kind: DependencyKind,
        waiter: (usize, u32),
        prerequisite: (usize, u32),
    ) {
        if !self.check_name(waiter.0, waiter.1) | !self.check_name(prerequisite.0, prerequisite.1) {
            return;
        }
        let a = self.labels.find(self.text, self.slice(waiter.0, waiter.1));
        let b = self.labels.find(self.text, self.slice(prerequisite.0, prerequisite.1));
        match (a, b) {
            (Some(waiter_id), Some(prerequisite_id)) => {
                self.edge(kind, waiter_id, prerequisite_id, self.position(waiter.0));
            }
            _ => {
                let span = |(start, len): (usize, u32)| self.span(start, start + len as usize);
                let (waiter, prerequisite) = (span(waiter), span(prerequisite));
                let at = self.dependencies(kind).edges.len() as u32;
                self.block.pending.push(Pending { kind, waiter, prerequisite, at });
                self.state(
                    kind,
                    Edge { waiter: ActionId(0), prerequisite: ActionId(0) },
                    waiter.start,
                );
            }
        }
    }

    #[inline]
    fn edge(
        &mut self,
        kind: DependencyKind,
        waiter: ActionId,
        prerequisite: ActionId,
        place: Position,
    ) {
        self.block.backward |= waiter <= prerequisite;
        self.state(kind, Edge { waiter, prerequisite }, place);
    }

    #[inline]
    fn dependencies(&mut self, kind: DependencyKind) -> &mut Dependencies {
        match kind {
            DependencyKind::Completion => &mut self.requires,
            DependencyKind::Start => &mut self.irequires,
        }
    }

    #[inline]
    fn state(&mut self, kind: DependencyKind, edge: Edge, place: Position) {
        let debug = self.options.debug;
        let dependencies = self.dependencies(kind);
        dependencies.edges.push(edge);
        if debug {
            dependencies.places.push(place);
        }
    }

    /// At a block's end, looks up the labels that were not defined yet when they were used.
    pub(super) fn resolve_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.block.pending);
        pending.retain(|dependency| {
            let name = |span: Span| {
                let offset = (span.start - self.base) as usize;
                self.slice(offset, (span.end - span.start) as u32)
            };
            let waiter = self.labels.find(self.text, name(dependency.waiter));
            let prerequisite = self.labels.find(self.text, name(dependency.prerequisite));
            let (Some(waiter), Some(prerequisite)) = (waiter, prerequisite) else { return true };
            self.block.backward |= waiter <= prerequisite;
            let edge = Edge { waiter, prerequisite };
            self.dependencies(dependency.kind).edges[dependency.at as usize] = edge;
            false
        });
        pending.shrink_to_fit();
        self.block.pending = pending;
    }
}
