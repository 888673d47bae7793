//! Adds the methods of [`Group`] that create buffers, graphs and collectives of the safe interface.

use super::graph::Graph;
use super::memories::{Memories, note};
use super::schedule::{Runs, Schedule};
use crate::buffer::{Buffer, Element};
use crate::collective::Collective;
use crate::communicator::Communicator;
use crate::error::{Error, ErrorCode, Result};
use crate::group::Group;
use goal_collectives::Blocks;
use goal_lang::{CollectiveKind, Function, Op};
use std::sync::Arc;

impl Group {
    /// Returns a buffer of `len` elements, all zero.
    ///
    /// # Errors
    /// [`ErrorCode::Memory`] if memory is too small for these elements.
    pub fn zeros<T: Element>(self, len: usize) -> Result<Buffer<T>> {
        Buffer::zeros(self, len)
    }

    /// Returns a buffer with these elements.
    ///
    /// # Errors
    /// [`ErrorCode::Memory`] if there is no memory for the elements.
    pub fn buffer<T: Element>(self, elements: &[T]) -> Result<Buffer<T>> {
        let buffer = Buffer::zeros(self, elements.len())?;
        buffer.write()?.copy_from_slice(elements);
        Ok(buffer)
    }

    /// Returns an empty graph on [`world`](Self::world).
    pub fn graph(self) -> Graph {
        Graph::new(self.world())
    }

    /// Returns a collective of `communicator` on the buffers in `arguments`. All ranks of the
    /// communicator call this in the same order. Without an input the collective works in place.
    /// `root` is ignored if the collective has no root, and `op` if it combines no inputs. `count`
    /// is the number of elements in a block: in a rank's input, or in the input's part for each
    /// rank.
    ///
    /// # Errors
    /// The collective is not defined for these arguments, or a buffer is too small.
    pub fn collective<T: Element>(
        self,
        communicator: &Communicator,
        arguments: &Arguments<'_, T>,
    ) -> Result<Schedule> {
        self.collective_of_blocks(communicator, arguments, &Blocks::Equal)
    }

    /// Returns a collective whose blocks differ in size or place: MPI's collectives whose names end
    /// with v, and `MPI_Reduce_scatter`. `blocks` has the blocks that this rank knows. In a gather
    /// or a scatter the root knows all blocks, and each other rank knows its own. `count` is
    /// ignored.
    ///
    /// ```no_run
    /// # use goal::{Arguments, BlockList, Blocks, CollectiveKind, Group, Op};
    /// # fn main() -> goal::Result<()> {
    /// # let group = Group::init()?;
    /// // Rank r gives r elements. The blocks lie one behind the other, with one element between.
    /// let counts: Vec<u64> = (0..u64::from(group.size())).collect();
    /// let places: Vec<u64> = counts.iter().map(|r| r * (r + 1) / 2).collect();
    /// let own = group.buffer(&vec![group.rank(); group.rank() as usize])?;
    /// let all = group.zeros::<u32>(counts.iter().sum::<u64>() as usize + counts.len())?;
    /// let blocks = BlockList::at(counts, places).expect("there are as many places as counts");
    /// let arguments = Arguments {
    ///     kind: CollectiveKind::Allgather,
    ///     count: 0,
    ///     op: Op::Sum,
    ///     root: 0,
    ///     input: Some(&own),
    ///     output: Some(&all),
    /// };
    /// let allgather =
    ///     group.collective_of_blocks(group.world(), &arguments, &Blocks::Each(blocks))?;
    /// allgather.run()?.wait()?;
    /// # group.finalize()
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`collective`](Self::collective). Also if the blocks do not fit this collective, or
    /// received blocks overlap.
    pub fn collective_of_blocks<T: Element>(
        self,
        communicator: &Communicator,
        arguments: &Arguments<'_, T>,
        blocks: &Blocks,
    ) -> Result<Schedule> {
        let Arguments { kind, count, op, root, input, output } = *arguments;
        let datatype = T::DATATYPE;
        let function = Function::Predefined(op, datatype);
        let in_place = input.is_none();
        let collective =
            Collective { kind, count: count as u64, datatype, function, root, in_place };
        let collective = collective.prepare(blocks, communicator, "Group::collective")?;
        let lengths: Vec<u64> = collective.schedule().buffers().to_vec();
        let buffers: Vec<&Buffer<T>> = input.into_iter().chain(output).collect();
        let mut memories = Memories::new();
        let mut addresses = [0; 2];
        for (at, &length) in lengths.iter().enumerate() {
            let is_output = at + 1 == lengths.len();
            let buffer = if is_output { output } else { input };
            let name = if is_output { "output" } else { "input" };
            let bytes = buffer.map_or(0, |buffer| (buffer.len() * size_of::<T>()) as u64);
            if bytes < length {
                let text = format!("the {name} has {bytes} bytes, and this rank needs {length}");
                return Err(Error::new(ErrorCode::Buffer, text));
            }
            addresses[usize::from(is_output)] =
                buffer.map_or(0, |buffer| buffer.memory().address());
            note(&mut memories, buffer.filter(|_| length > 0).map(Buffer::memory), is_output);
        }
        let is_same = |pair: &[&Buffer<T>]| Arc::ptr_eq(pair[0].memory(), pair[1].memory());
        if buffers.windows(2).any(is_same) {
            let text = "input and output are the same buffer: leave the input out for a collective in place";
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        let [input, output] = addresses;
        let runs = Runs::Collective { collective, input, output };
        Ok(Schedule::new(runs, memories))
    }
}

/// The arguments of a collective, in MPI's terms.
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'b, T> {
    /// The collective.
    pub kind: CollectiveKind,
    /// The number of elements in a block.
    pub count: usize,
    /// The operation, for collectives that combine inputs.
    pub op: Op,
    /// The root, for collectives that have one.
    pub root: u32,
    /// The input; `None` if the input lies where the output will be (`MPI_IN_PLACE`), or if this
    /// rank has none.
    pub input: Option<&'b Buffer<T>>,
    /// The output; `None` if this rank has none.
    pub output: Option<&'b Buffer<T>>,
}
