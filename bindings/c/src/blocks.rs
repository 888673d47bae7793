//! Defines the arguments of collectives, and returns their blocks from lists of counts and
//! displacements.
#![allow(unsafe_code)] // arrays of the caller

use crate::arguments::array;
use crate::types::{GOAL_Op, GOAL_Type};
use goal::{BlockList, Blocks, Communicator, Error, ErrorCode, Result};
use goal_lang::CollectiveKind as Kind;
use std::ffi::c_int;
use std::ptr::null;

/// The arguments of a call of a collective. An argument that the collective does not have is as in
/// [`NONE`].
pub(crate) struct Arguments {
    pub(crate) sendbuf: usize,
    pub(crate) recvbuf: usize,
    pub(crate) count: i64,
    pub(crate) sendcount: i64,
    pub(crate) recvcount: i64,
    pub(crate) sendcounts: *const i64,
    pub(crate) recvcounts: *const i64,
    /// The displacements of a collective that has only one list of displacements.
    pub(crate) displs: *const i64,
    pub(crate) sdispls: *const i64,
    pub(crate) rdispls: *const i64,
    pub(crate) datatype: GOAL_Type,
    pub(crate) op: GOAL_Op,
    pub(crate) root: c_int,
}

/// The values of arguments that a collective does not have.
pub(crate) const NONE: Arguments = Arguments {
    sendbuf: 0,
    recvbuf: 0,
    count: 0,
    sendcount: 0,
    recvcount: 0,
    sendcounts: null(),
    recvcounts: null(),
    displs: null(),
    sdispls: null(),
    rdispls: null(),
    datatype: 0x108,
    op: 2,
    root: 0,
};

/// The form of a collective's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// All blocks have the same count, and follow each other without gaps.
    Equal,
    /// Each block has a count and a displacement of its own.
    Listed,
}

/// Returns the blocks of a collective from the arguments of a call.
///
/// # Errors
/// A list is missing, a number is negative, or the count of this rank's block differs between its
/// own argument and a list.
///
/// # Safety
/// Each list has one element for each rank of the communicator. In a neighbourhood collective it
/// has one for each neighbour of this rank instead. A list of displacements may be NULL. At a rank
/// that is not the root, a list that only the root needs may be NULL too.
pub(crate) unsafe fn blocks(
    kind: Kind,
    shape: Shape,
    arguments: &Arguments,
    in_place: bool,
    communicator: &Communicator,
) -> Result<Blocks> {
    if shape == Shape::Equal {
        return Ok(Blocks::Equal);
    }
    let &Arguments { sendcounts, recvcounts, displs, sdispls, rdispls, .. } = arguments;
    let (rank, ranks) = (communicator.rank(), communicator.size());
    let neighbors = communicator.neighbors();
    let (sources, destinations) = match neighbors.filter(|_| kind.has_neighbors()) {
        Some(all) => (all.sources.len() as u32, all.destinations.len() as u32),
        None if kind.has_neighbors() => (0, 0),
        None => (ranks, ranks),
    };
    // SAFETY: as the caller says.
    let list = |counts, displs, len, names| unsafe { list(counts, displs, len, names) };
    let received = || list(recvcounts, displs, sources, ["recvcounts", "displs"]);
    let sent = |what| one(arguments.sendcount, what);
    let is_root = !kind.has_root() || u32::try_from(arguments.root).is_ok_and(|root| root == rank);
    // The count of this rank's block is stated twice, unless the collective works in place.
    let agrees = |list: &BlockList, own: Result<u64>, names: [&str; 2]| {
        let (listed, own) =
            (list.counts()[rank as usize], if in_place { return Ok(()) } else { own? });
        if listed == own {
            return Ok(());
        }
        let [own_name, list_name] = names;
        let text = format!(
            "{own_name} is {own}, and {list_name}[{rank}] is {listed}: they are the same block"
        );
        Err(Error::new(ErrorCode::Count, text))
    };
    Ok(match kind {
        Kind::Gather if !is_root => Blocks::Own(sent("sendcount")?),
        Kind::Gather | Kind::Allgather => {
            let list = received()?;
            agrees(&list, sent("sendcount"), ["sendcount", "recvcounts"])?;
            Blocks::Each(list)
        }
        Kind::Scatter if !is_root => Blocks::Own(one(arguments.recvcount, "recvcount")?),
        Kind::Scatter => {
            let list = list(sendcounts, displs, ranks, ["sendcounts", "displs"])?;
            agrees(&list, one(arguments.recvcount, "recvcount"), ["recvcount", "sendcounts"])?;
            Blocks::Each(list)
        }
        Kind::ReduceScatter => Blocks::Each(received()?),
        Kind::NeighborAllgather => {
            let send = BlockList::packed([sent("sendcount")?]);
            Blocks::Pairs { send, recv: received()? }
        }
        _ => {
            let recv = list(recvcounts, rdispls, sources, ["recvcounts", "rdispls"])?;
            let send = match in_place {
                true => recv.clone(),
                false => list(sendcounts, sdispls, destinations, ["sendcounts", "sdispls"])?,
            };
            Blocks::Pairs { send, recv }
        }
    })
}

/// Returns `value` as an unsigned number. Returns an error if it is negative.
fn one(value: i64, name: impl std::fmt::Display) -> Result<u64> {
    u64::try_from(value).map_err(|_| {
        Error::new(ErrorCode::Count, format!("{name} is {value}, and can't be negative"))
    })
}

/// Returns blocks from a list of counts and a list of displacements. If `displacements` is NULL,
/// the blocks follow each other without gaps. The displacement of a block without elements is
/// ignored.
///
/// # Safety
/// Both lists have `len` elements, if they are not NULL.
unsafe fn list(
    counts: *const i64,
    displacements: *const i64,
    len: u32,
    [of_counts, of_displacements]: [&str; 2],
) -> Result<BlockList> {
    // SAFETY: as the caller says.
    let counts = unsafe { array(counts, len, of_counts)? };
    let whole = |(at, &count): (usize, &i64)| one(count, format_args!("{of_counts}[{at}]"));
    let sizes: Vec<u64> = counts.iter().enumerate().map(whole).collect::<Result<_>>()?;
    if displacements.is_null() {
        return Ok(BlockList::packed(sizes));
    }
    // SAFETY: as above.
    let displacements = unsafe { array(displacements, len, of_displacements)? };
    let places = displacements.iter().zip(&sizes).enumerate().map(|(at, (&place, &size))| {
        if size == 0 { Ok(0) } else { one(place, format_args!("{of_displacements}[{at}]")) }
    });
    let places: Vec<u64> = places.collect::<Result<_>>()?;
    Ok(BlockList::at(sizes, places).expect("as many places as blocks"))
}
