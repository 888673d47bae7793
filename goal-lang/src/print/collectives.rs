//! Prints collective statements.

use super::output::Output;
use crate::program::{CollectiveForm, CollectiveStatement, group_word};

pub(super) fn print(out: &mut Output<'_>, stated: &CollectiveStatement) {
    match stated.form {
        CollectiveForm::Group { kind, group, instance, root, placement } => {
            out.text("coll ");
            out.text(group_word(kind));
            out.text(" ");
            out.number(stated.size);
            out.text("b ");
            out.number(group.into());
            out.text(" ");
            out.number(instance.into());
            out.text(" ");
            match root {
                Some(root) => out.number(root.into()),
                None => out.text("-1"),
            }
            out.placement(placement);
        }
        CollectiveForm::Nccl { kind, comm, gpu, stream, seq } => {
            out.text(kind.name());
            out.text(" ");
            out.number(stated.size);
            out.text(" bytes");
            let numbers = [(" comm ", comm), (" gpu ", gpu), (" stream ", stream), (" seq ", seq)];
            for (word, number) in numbers {
                out.text(word);
                out.number(number.into());
            }
            out.text(" end");
        }
    }
}
