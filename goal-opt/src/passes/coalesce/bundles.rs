//! Selects the messages that are merged.

use super::open::{Open, wild_ranks};
use super::readiness::Readiness;
use crate::passes::levels::{LevelMessage, numbered_pairs};
use crate::whole::{Vertex, Whole};
use goal_lang::{Action, ActionId, Edge, Payload, Placement, Space};
use std::collections::BTreeMap;

/// The changes of sends and receives.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Pairs of a rank and a group of its sends or receives that become one action. A group is in
    /// the order of the sends, at both ends. The buffers are joined in this order.
    pub(super) bundles: Vec<(u32, Vec<ActionId>)>,
    /// Pairs of a rank and a new start dependency between two of its remaining messages.
    pub(super) orders: Vec<(u32, Edge)>,
}

/// The common properties of messages that may be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    source: u32,
    destination: u32,
    level: u32,
    readiness: [u32; 2],
}

/// Plans bundles of at most `size_max` bytes, in the order of the sends. Messages of the same tag
/// that only the layout orders get dependencies that keep this order.
pub(super) fn plan(
    whole: &Whole<'_>,
    messages: Vec<LevelMessage>,
    partner: &[Vertex],
    open: &Open,
    readiness: &mut Readiness,
    size_max: u64,
) -> Plan {
    let wild = wild_ranks(whole);
    let numbered = numbered_pairs(whole, partner);
    let mut keyed: Vec<(Key, LevelMessage)> = Vec::with_capacity(messages.len());
    for message in messages {
        let (source, destination) = (whole.rank(message.send), whole.rank(message.recv));
        if !wild[destination as usize] && !numbered.contains(&(source, destination)) {
            let readiness = [readiness.of(whole, message.send), readiness.of(whole, message.recv)];
            keyed.push((Key { source, destination, level: message.level, readiness }, message));
        }
    }
    keyed.sort_unstable_by_key(|(key, message)| (*key, message.send));
    let mut plan = Plan::default();
    for group in keyed.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1) {
        let bundles = bundles(whole, group, size_max);
        if bundles.len() == group.len() {
            continue;
        }
        let is_open = group.iter().any(|(_, message)| open.has(message.send));
        let ends: [fn(&LevelMessage) -> Vertex; 2] =
            [|message| message.send, |message| message.recv];
        for end in ends {
            let rank = whole.rank(end(&group[0].1));
            let id = |message: &LevelMessage| whole.id(end(message));
            if is_open {
                plan.orders.extend(bundles.windows(2).map(|pair| {
                    (rank, Edge { waiter: id(&pair[1][0]), prerequisite: id(&pair[0][0]) })
                }));
            }
            let many = bundles.iter().filter(|bundle| bundle.len() > 1);
            plan.bundles.extend(many.map(|bundle| (rank, bundle.iter().map(id).collect())));
        }
    }
    plan
}

/// Divides the messages of a group into bundles of neighbours that fit into one message.
fn bundles(
    whole: &Whole<'_>,
    group: &[(Key, LevelMessage)],
    size_max: u64,
) -> Vec<Vec<LevelMessage>> {
    let mut bundles: Vec<Vec<LevelMessage>> = Vec::new();
    let mut open = None;
    for &(_, message) in group {
        let form = [form(whole, message.send), form(whole, message.recv)];
        let bytes = whole.message_size(message.send);
        let fits = bytes > 0
            && bytes == whole.message_size(message.recv)
            && form.iter().all(Option::is_some);
        let bundle = match open.take() {
            Some(bundle) if fits => Bundle::add(bundle, whole, message, form, bytes, size_max),
            _ => None,
        };
        match bundle {
            Some(bundle) => {
                bundles.last_mut().expect("one is open").push(message);
                open = Some(bundle);
            }
            None => {
                bundles.push(vec![message]);
                let empty = Bundle { form, bytes: 0, stored: BTreeMap::new() };
                open = Some(empty).filter(|_| fits);
                open = open.and_then(|bundle| bundle.add(whole, message, form, bytes, size_max));
            }
        }
    }
    bundles
}

/// The placement of a send or a receive, and true if it has an address; `None` if it combines.
type Form = Option<(Placement, bool)>;

/// Returns the form of a send or a receive.
fn form(whole: &Whole<'_>, vertex: Vertex) -> Form {
    match *whole.action(vertex) {
        Action::Send { payload, placement, .. } | Action::Recv { payload, placement, .. } => {
            match payload {
                Payload::Pattern { .. } => Some((placement, false)),
                Payload::Buffer(_) | Payload::Vector(_) => Some((placement, true)),
                Payload::Reduced { .. } => None,
            }
        }
        _ => None,
    }
}

/// A bundle under construction.
struct Bundle {
    form: [Form; 2],
    bytes: u64,
    /// The ranges that the receives of the bundle store: by space and first byte, the end.
    stored: BTreeMap<(Space, u64), u64>,
}

impl Bundle {
    /// Adds a message. Returns `None` if the message has another form, makes the bundle too large,
    /// or stores bytes that another message of the bundle stores.
    fn add(
        mut self,
        whole: &Whole<'_>,
        message: LevelMessage,
        form: [Form; 2],
        bytes: u64,
        size_max: u64,
    ) -> Option<Self> {
        self.bytes = self.bytes.checked_add(bytes).filter(|&bytes| bytes <= size_max)?;
        if self.form != form {
            return None;
        }
        if let Action::Recv { payload, .. } = *whole.action(message.recv)
            && let Some(target) = whole.body(message.recv).payload_operand(payload)
        {
            for piece in target.pieces() {
                let end = piece.addr + piece.size;
                let before = self.stored.range(..(piece.space, end)).next_back();
                if before.is_some_and(|(&(space, _), &before)| {
                    space == piece.space && before > piece.addr
                }) {
                    return None;
                }
                self.stored.insert((piece.space, piece.addr), end);
            }
        }
        Some(self)
    }
}
