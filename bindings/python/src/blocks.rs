//! The blocks of collectives, from lists of counts and displacements.

use crate::error::raised;
use goal::{BlockList, Blocks, CollectiveKind as Kind, Communicator, ErrorCode};
use pyo3::prelude::*;

/// A list of counts and one of displacements, in elements.
type Lists = (Option<Vec<i64>>, Option<Vec<i64>>);

/// The lists of a call: of what is sent, and of what is received.
pub(crate) type Listed = (Lists, Lists);

/// Returns the blocks of a collective. `own` is the number of elements of this rank's array, for
/// ranks that know no other block, and `None` in place. The last argument is the units of an
/// element: of what is sent, and of what is received.
///
/// # Errors
/// A list is missing or has the wrong length, or a number is negative.
pub(crate) fn blocks(
    py: Python<'_>,
    kind: Kind,
    (send, recv): &Listed,
    communicator: &Communicator,
    root: u32,
    own: Option<u64>,
    [sent, received]: [u64; 2],
) -> PyResult<Blocks> {
    let ranks = communicator.size() as usize;
    let (sources, destinations) = match communicator.neighbors() {
        Some(all) if kind.has_neighbors() => (all.sources.len(), all.destinations.len()),
        _ => (ranks, ranks),
    };
    let (is_root, own_block) = (communicator.rank() == root, own.unwrap_or(0));
    let list = |lists: &Lists, len, scale, what: &str| list(py, lists, len, scale, what);
    Ok(match kind {
        Kind::Gather if !is_root => Blocks::Own(own_block * sent),
        Kind::Scatter if !is_root => Blocks::Own(own_block * received),
        Kind::Scatter => Blocks::Each(list(send, ranks, sent, "")?),
        Kind::Gather | Kind::Allgather | Kind::ReduceScatter => {
            Blocks::Each(list(recv, ranks, received, "")?)
        }
        Kind::NeighborAllgather => Blocks::Pairs {
            send: BlockList::packed([own_block * sent]),
            recv: list(recv, sources, received, "")?,
        },
        _ => {
            let received = list(recv, sources, received, "recv")?;
            let sent = match own {
                None => received.clone(),
                Some(_) => list(send, destinations, sent, "send")?,
            };
            Blocks::Pairs { send: sent, recv: received }
        }
    })
}

/// Returns blocks from a list of counts and one of displacements; without that, they lie one behind
/// the other. The place of a block without elements counts for nothing.
fn list(
    py: Python<'_>,
    (counts, displacements): &Lists,
    len: usize,
    scale: u64,
    what: &str,
) -> PyResult<BlockList> {
    let error = |text: &str| raised(py, ErrorCode::Count, text);
    let counts = counts
        .as_ref()
        .ok_or_else(|| error(&format!("{what}counts is None: give a number for each block")))?;
    let number = |name: &str, at: usize, value: i64| {
        let whole = u64::try_from(value)
            .map_err(|_| error(&format!("{what}{name}[{at}] is {value}, and can't be negative")))?;
        whole.checked_mul(scale).ok_or_else(|| error(&format!("{what}{name}[{at}] is too large")))
    };
    let check = |name: &str, list: &[i64]| {
        if list.len() == len {
            return Ok(());
        }
        Err(error(&format!("{what}{name} has {} numbers, and there are {len} blocks", list.len())))
    };
    check("counts", counts)?;
    let sizes: Vec<u64> = (0..)
        .zip(counts)
        .map(|(at, &count)| number("counts", at, count))
        .collect::<PyResult<_>>()?;
    let Some(displacements) = displacements else { return Ok(BlockList::packed(sizes)) };
    check("displs", displacements)?;
    let places: Vec<u64> = (0..)
        .zip(displacements)
        .map(|(at, &place)| if sizes[at] == 0 { Ok(0) } else { number("displs", at, place) })
        .collect::<PyResult<_>>()?;
    Ok(BlockList::at(sizes, places).expect("as many places as blocks"))
}
