//! Grammar actions of collective statements.

use super::builder::Builder;
use crate::diag::{Code, Diagnostic};
use crate::ids::ActionId;
use crate::limits::RANK_MAX;
use crate::program::{Action, CollectiveForm, CollectiveStatement, GROUP_KINDS, NcclKind};

/// A number and its offset in the text.
type Number = (usize, u64);

impl Builder<'_> {
    /// Adds `coll KIND SIZEb GROUP INSTANCE ROOT`.
    pub(crate) fn group_collective(
        &mut self,
        start: usize,
        (at, len): (usize, u32),
        size: Number,
        [group, instance]: [Number; 2],
        root: Option<u32>,
    ) {
        let size = self.wide(size.0, size.1, "the size in bytes").unwrap_or(0);
        let group = self.narrow(group.0, group.1, u32::MAX, "the group").unwrap_or(0);
        let instance = self.narrow(instance.0, instance.1, u32::MAX, "the instance").unwrap_or(0);
        let placement = self.attributes.placement;
        let word = self.slice(at, len);
        match GROUP_KINDS.iter().find(|(name, _)| name.as_bytes() == word) {
            Some(&(_, kind)) => {
                let form = CollectiveForm::Group { kind, group, instance, root, placement };
                self.collective(start, size, form);
            }
            None => {
                self.unknown_collective(at, len);
                self.abandon_statement();
            }
        }
    }

    /// Adds `KIND SIZE bytes comm C gpu G stream S seq N end`.
    pub(crate) fn nccl_collective(
        &mut self,
        start: usize,
        len: u32,
        size: Number,
        [comm, gpu, stream, seq]: [Number; 4],
    ) {
        let size = self.wide(size.0, size.1, "the size in bytes").unwrap_or(0);
        let mut number =
            |(at, number): Number, what| self.narrow(at, number, u32::MAX, what).unwrap_or(0);
        let (comm, gpu) = (number(comm, "the communicator"), number(gpu, "the gpu"));
        let (stream, seq) = (number(stream, "the stream"), number(seq, "the sequence number"));
        let word = self.slice(start, len);
        let kind = NcclKind::ALL.into_iter().find(|kind| kind.name().as_bytes() == word);
        let kind = kind.expect("the lexer knows these words");
        self.collective(start, size, CollectiveForm::Nccl { kind, comm, gpu, stream, seq });
    }

    /// Returns a root that a statement names.
    pub(crate) fn root(&mut self, at: usize, number: u64) -> Option<u32> {
        self.narrow(at, number, RANK_MAX, "the root")
    }

    /// Checks that a negative root is -1, which stands for none.
    pub(crate) fn no_root(&mut self, start: usize, end: usize) -> Option<u32> {
        if &self.text[start..end] != b"-1" {
            let (span, number) = (self.span(start, end), self.quote(start, end));
            self.report.add(Code::NumberOverflow, || {
                Diagnostic::new(Code::NumberOverflow, format!("{number} is no root"))
                    .label(span, "a root is a rank, or -1 for none")
                    .note("bcast and reduce have a root; the other collectives have none")
                    .help("write the rank of the root, or -1")
            });
        }
        None
    }

    fn collective(&mut self, start: usize, size: u64, form: CollectiveForm) {
        let action = self.block.body.actions.len();
        self.push(start, Action::Nop);
        if self.block.body.actions.len() > action {
            let stated = CollectiveStatement { action: ActionId::new(action), size, form };
            self.block.body.collectives.push(stated);
        }
        self.next_statement();
    }

    #[cold]
    fn unknown_collective(&mut self, at: usize, len: u32) {
        let end = at + len as usize;
        let (span, word) = (self.span(at, end), self.quote(at, end));
        self.chunk.syntax_errors += 1;
        self.report.add(Code::Syntax, || {
            let known = GROUP_KINDS.map(|(name, _)| name).join("`, `");
            Diagnostic::new(Code::Syntax, format!("{word} is no collective of `coll`"))
                .label(span, "not known")
                .note("other collectives have no statement: their programs consist of messages")
                .help(format!("write one of `{known}`"))
        });
    }
}
