//! Records of collective statements, which atlahs-inc adds to LogGOPSim's binary form.
//!
//! Any bytes are a statement. The group and its root are checked where the statements of all ranks
//! are put together ([`instances`](goal_lang::instances())).

use super::file::File;
use super::node;
use goal_lang::{ActionId, CollectiveForm, CollectiveKind, CollectiveStatement, Placement};

/// The root of a statement without a root.
const NO_ROOT: u16 = u16::MAX;

/// The types of these records.
const TYPES: [(u8, CollectiveKind); 5] = [
    (10, CollectiveKind::Bcast),
    (11, CollectiveKind::Reduce),
    (12, CollectiveKind::Allreduce),
    (13, CollectiveKind::ReduceScatter),
    (14, CollectiveKind::Allgather),
];

/// Returns the collective of a type of records, if it is one.
pub(super) fn of(kind: u8) -> Option<CollectiveKind> {
    TYPES.iter().find(|known| known.0 == kind).map(|known| known.1)
}

/// Returns the statement that the record at byte `at` is, if it is one. `index` is the number of
/// the operation. The peer has the group in its lower half and the root in its upper one.
pub(super) fn read(file: File<'_>, at: usize, index: usize) -> Option<CollectiveStatement> {
    let kind = of(file.0[at + node::TYPE])?;
    let peer = file.u32(at + node::PEER.start);
    let root = Some((peer >> 16) as u16).filter(|&root| root != NO_ROOT);
    let form = CollectiveForm::Group {
        kind,
        group: peer & 0xffff,
        instance: file.u32(at + node::TAG.start),
        root: root.map(u32::from),
        placement: Placement { cpu: file.0[at + node::CPU].into(), nic: file.0[at + node::NIC] },
    };
    let size = file.u64(at + node::BYTES.start);
    Some(CollectiveStatement { action: ActionId::new(index), size, form })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loggopsim::{read, write};
    use goal_lang::limits::Limits;
    use goal_lang::{Action, BodyBuilder, ProgramBuilder};

    #[test]
    fn types_of_collectives_are_statements() {
        let mut rank = BodyBuilder::default();
        rank.action(Action::Calc { nanos: 64, placement: Placement { cpu: 3, nic: 1 } });
        let mut program = ProgramBuilder::default();
        program.rank_with(rank.finish());
        let mut bytes = Vec::new();
        write(&program.finish(), &mut bytes).expect("memory");
        let record = 30 + 12;
        bytes[record + node::PEER.start..][..4].copy_from_slice(&[5, 1, 7, 0]);
        bytes[record + node::TAG.start] = 9;
        for (kind, collective) in TYPES {
            bytes[record + node::TYPE] = kind;
            let program = read(&bytes, &Limits::default()).expect("a statement");
            let body = program.body_of(0);
            let placement = Placement { cpu: 3, nic: 1 };
            let form = CollectiveForm::Group {
                kind: collective,
                group: 0x105,
                instance: 9,
                root: Some(7),
                placement,
            };
            let stated = CollectiveStatement { action: ActionId(0), size: 64, form };
            assert_eq!(
                (&body.actions[..], &body.collectives[..]),
                (&[Action::Nop][..], &[stated][..])
            );
        }
        bytes[record + node::PEER.start + 2..][..2].fill(0xff);
        let program = read(&bytes, &Limits::default()).expect("a statement");
        let form = program.body_of(0).collectives[0].form;
        assert!(matches!(form, CollectiveForm::Group { root: None, .. }), "{form:?}");
        for kind in [0, 9, 15] {
            bytes[record + node::TYPE] = kind;
            assert!(read(&bytes, &Limits::default()).is_err(), "{kind}");
        }
    }
}
