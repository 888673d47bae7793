//! All values of a body, and the actions that write and read them. A value is the content of a
//! range of bytes from one write to the next.

use super::order::Order;
use super::walk::{Value, Walk};
use goal_lang::{ActionId, Body};
use std::cell::OnceCell;

/// All values of a body, and the values of each action.
#[derive(Debug)]
pub(crate) struct Flow {
    /// The values, in the order of their ends: overwritten values first, then those left in memory.
    pub(crate) values: Vec<Value>,
    /// The readers of all values. A [`Value`] has the range of its readers in this list.
    readers: Vec<ActionId>,
    /// By action, the values that it writes.
    written: Lists,
    /// By action, the values that it reads. Computed when first needed.
    read: OnceCell<Lists>,
}

impl Flow {
    /// Computes the values of a body. Returns `None` if the bound on the work is reached.
    pub(crate) fn new(body: &Body, order: &mut Order<'_>) -> Option<Self> {
        let mut walk = Walk::new(body);
        for at in 0..body.len() {
            walk.action(order.ids()[at], order)?;
        }
        let (values, readers) = walk.finish();
        let written = Lists::new(body.len(), values.iter().map(|value| value.writer.as_slice()));
        Some(Self { values, readers, written, read: OnceCell::new() })
    }

    /// The actions that read a value, in a topological order.
    pub(crate) fn readers(&self, value: &Value) -> &[ActionId] {
        &self.readers[value.readers.clone()]
    }

    /// The values that an action writes.
    pub(crate) fn written_by(&self, id: ActionId) -> impl Iterator<Item = &Value> {
        self.written.of(id).iter().map(|&value| &self.values[value as usize])
    }

    /// The values that an action reads.
    pub(crate) fn read_by(&self, id: ActionId) -> impl Iterator<Item = &Value> {
        let readers = self.values.iter().map(|value| self.readers(value));
        let read = self.read.get_or_init(|| Lists::new(self.written.len(), readers));
        read.of(id).iter().map(|&value| &self.values[value as usize])
    }
}

/// By action, the indices of the values that it writes or reads.
#[derive(Debug)]
struct Lists {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Lists {
    fn new<'v>(actions: usize, owners: impl Iterator<Item = &'v [ActionId]> + Clone) -> Self {
        let mut starts = vec![0u32; actions + 1];
        for owner in owners.clone().flatten() {
            starts[owner.index()] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut values = vec![0; sum as usize];
        for (value, owners) in owners.enumerate() {
            for owner in owners {
                let at = &mut starts[owner.index()];
                *at -= 1;
                values[*at as usize] = value as u32;
            }
        }
        Self { starts, values }
    }

    /// The number of actions.
    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, id: ActionId) -> &[u32] {
        &self.values[self.starts[id.index()] as usize..self.starts[id.index() + 1] as usize]
    }
}
