//! Defines the functions of collectives from one table. Each collective has three forms: blocking,
//! non-blocking and persistent.
#![allow(unsafe_code)] // exported names, buffers and arrays of the caller
#![allow(clippy::needless_update)] // some collectives have all of the arguments

use crate::arguments::rank;
use crate::blocks::{Arguments, NONE, Shape, blocks};
use crate::border::{border, status};
use crate::communicator::{Named, communicator};
use crate::end::waited;
use crate::run::finish;
use crate::schedule::{handle, keep};
use crate::types::{
    Element, GOAL_Comm, GOAL_Handle, GOAL_Op, GOAL_Schedule, GOAL_Type, USER_OP, operation,
    whole_type,
};
use crate::user::is_registered;
use goal::raw::{RawCall, Ticket, fast};
use goal::{Blocks, Collective, Error, ErrorCode, Result};
use goal_lang::{CollectiveKind, Datatype, Function, Op};
use std::ffi::{c_int, c_void};

/// The address that stands for "in place" (`GOAL_IN_PLACE`).
const IN_PLACE: usize = usize::MAX;

/// A call of a collective, whose arguments were checked.
struct Call {
    collective: Collective,
    blocks: Blocks,
    communicator: Named,
    input: usize,
    output: usize,
}

impl Call {
    /// Checks the arguments of a call of a collective.
    ///
    /// # Safety
    /// Each list has as many elements as `comm` has ranks, or in a neighbourhood collective as many
    /// as this rank has neighbours. A list may be NULL if the collective allows it.
    unsafe fn new(
        kind: CollectiveKind,
        shape: Shape,
        arguments: &Arguments,
        comm: GOAL_Comm,
    ) -> Result<Self> {
        let &Arguments { sendbuf, recvbuf, count, datatype, op, root, .. } = arguments;
        let communicator = communicator(comm)?;
        let Ok(count) = u64::try_from(count) else {
            let text = format!("count is {count}, and can't be negative");
            return Err(Error::new(ErrorCode::Count, text));
        };
        let element = whole_type(datatype)?;
        let function = function(kind, op, element)?;
        let root = rank(root, "root")?;
        let (input, output, in_place) = buffers(kind, sendbuf, recvbuf);
        if output == IN_PLACE || kind.has_neighbors() && in_place {
            let text = "GOAL_IN_PLACE can't be given for this buffer";
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        // SAFETY: as the caller says.
        let blocks = unsafe { blocks(kind, shape, arguments, in_place, &communicator)? };
        let has_bytes = count > 0 || blocks != Blocks::Equal;
        if !in_place && input == output && input != 0 && has_bytes {
            let text = match kind.has_neighbors() {
                true => "sendbuf and recvbuf are the same: give two buffers",
                false => "sendbuf and recvbuf are the same: give GOAL_IN_PLACE as one of them",
            };
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        let datatype = element.datatype;
        let collective = Collective { kind, count, datatype, function, root, in_place };
        Ok(Self { collective, blocks, communicator, input, output })
    }

    fn start(&self) -> Result<Ticket> {
        let Self { collective, blocks, communicator, input, output } = self;
        // SAFETY: the header states the caller's duties: the buffers have MPI's sizes, last until
        // the run has ended, and nobody uses them against the collective meanwhile.
        unsafe { collective.start_blocks(blocks, communicator, *input, *output) }
    }

    /// Lets a later call with equal arguments find the collective at once.
    fn note(&self, shape: Shape, arguments: &Arguments, comm: GOAL_Comm) -> Result<()> {
        if shape != Shape::Equal {
            return Ok(());
        }
        let call = raw_call(self.collective.kind, arguments, comm);
        self.collective.note_call(&call, &self.communicator)
    }

    /// Starts the collective, and waits until it has ended.
    fn run(&self, name: &str) -> Result<()> {
        let Self { collective, blocks, communicator, input, output } = self;
        // SAFETY: as in `start`.
        let ran = unsafe { collective.run_blocks(blocks, communicator, *input, *output, name) };
        waited();
        ran
    }

    fn prepare(&self, name: &str) -> Result<GOAL_Schedule> {
        let prepared = self.collective.prepare(&self.blocks, &self.communicator, name)?;
        let buffers: Box<[usize]> = match self.collective.in_place {
            true => Box::new([self.output]),
            false => Box::new([self.input, self.output]),
        };
        // A buffer that is NULL now may be given later (GOAL_RunOn).
        if !buffers.contains(&0) {
            prepared.schedule().check_buffers(&buffers)?;
        }
        keep(prepared.into_schedule(), Some(buffers))
    }
}

/// Returns the addresses of input and output, and true if the collective works in place.
#[inline(always)]
fn buffers(kind: CollectiveKind, sendbuf: usize, recvbuf: usize) -> (usize, usize, bool) {
    match kind {
        CollectiveKind::Bcast => (0, recvbuf, true),
        // A scatter works in place only at its root, where the output is the input. At the other
        // ranks a scatter never works in place.
        CollectiveKind::Scatter if recvbuf == IN_PLACE => (0, sendbuf, true),
        _ if sendbuf == IN_PLACE => (0, recvbuf, true),
        _ => (sendbuf, recvbuf, kind == CollectiveKind::Barrier),
    }
}

/// Returns the numbers of a call by which it is found again.
#[inline(always)]
fn raw_call(kind: CollectiveKind, arguments: &Arguments, comm: GOAL_Comm) -> RawCall {
    let &Arguments { sendbuf, recvbuf, count, datatype, op, root, .. } = arguments;
    let (_, _, in_place) = buffers(kind, sendbuf, recvbuf);
    let function = (datatype as u32, op as u32);
    let (root, count) = (root as u32, count as u64);
    RawCall { communicator: comm.0, kind, in_place, function, root, count }
}

/// Starts a call that was made before, if it is one of linked runs. Returns its run, and true if
/// the run has ended; waits for that if `waits`. Returns `None` if nothing was started.
#[inline(always)]
fn start_fast(
    kind: CollectiveKind,
    shape: Shape,
    arguments: &Arguments,
    comm: GOAL_Comm,
    waits: bool,
) -> Option<(Ticket, bool)> {
    if shape != Shape::Equal || kind.has_neighbors() {
        return None;
    }
    let (input, output, _) = buffers(kind, arguments.sendbuf, arguments.recvbuf);
    let mut fast = fast()?;
    // SAFETY: as in `Call::start`.
    let run = unsafe { fast.call(&raw_call(kind, arguments, comm), input, output)? };
    let has_ended = waits && fast.wait(run);
    Some((run, has_ended))
}

/// Returns the operation of a collective. A collective that combines nothing gets a placeholder.
fn function(kind: CollectiveKind, op: GOAL_Op, element: Element) -> Result<Function> {
    if !kind.combines() {
        return Ok(Function::Predefined(Op::Sum, Datatype::UInt8));
    }
    if op < USER_OP {
        return Ok(Function::Predefined(operation(op, element)?, element.datatype));
    }
    let number = op - USER_OP;
    if !is_registered(number) {
        let text = format!("no function is registered as {number} (GOAL_Reg_func)");
        return Err(Error::new(ErrorCode::Operation, text));
    }
    Ok(Function::User(number as u32))
}

/// Defines the three functions of each collective. Their arguments have the names of the fields of
/// [`Arguments`].
macro_rules! collectives {
    ($($kind:ident of $shape:ident: $blocking:ident, $starting:ident, $preparing:ident
       ($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $blocking($($argument: $type,)* comm: GOAL_Comm) -> c_int {
            let name = stringify!($blocking);
            let arguments = Arguments { $($argument: $argument as _,)* ..NONE };
            let (kind, shape) = (CollectiveKind::$kind, Shape::$shape);
            if let Some((run, has_ended)) = start_fast(kind, shape, &arguments, comm, true) {
                return if has_ended { 0 } else { finish(run, name) };
            }
            status(name, || {
                // SAFETY: the caller passes lists of these lengths.
                let call = unsafe { Call::new(kind, shape, &arguments, comm)? };
                call.run(name)?;
                call.note(shape, &arguments, comm)
            })
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $starting($($argument: $type,)* comm: GOAL_Comm) -> GOAL_Handle {
            let arguments = Arguments { $($argument: $argument as _,)* ..NONE };
            let (kind, shape) = (CollectiveKind::$kind, Shape::$shape);
            if let Some((run, _)) = start_fast(kind, shape, &arguments, comm, false) {
                return handle(run);
            }
            border(stringify!($starting), || {
                // SAFETY: the caller passes lists of these lengths.
                let call = unsafe { Call::new(kind, shape, &arguments, comm)? };
                let run = call.start()?;
                call.note(shape, &arguments, comm)?;
                Ok(handle(run))
            })
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $preparing($($argument: $type,)* comm: GOAL_Comm) -> GOAL_Schedule {
            let name = stringify!($preparing);
            border(name, || {
                let arguments = Arguments { $($argument: $argument as _,)* ..NONE };
                let (kind, shape) = (CollectiveKind::$kind, Shape::$shape);
                // SAFETY: the caller passes lists of these lengths.
                let call = unsafe { Call::new(kind, shape, &arguments, comm)? };
                call.prepare(name)
            })
        }
    )*};
}

type In = *const c_void;
type Out = *mut c_void;

collectives! {
    Barrier of Equal: GOAL_Barrier, GOAL_Ibarrier, GOAL_Barrier_init();
    Bcast of Equal: GOAL_Bcast, GOAL_Ibcast, GOAL_Bcast_init
        (recvbuf: Out, count: i64, datatype: GOAL_Type, root: c_int);
    Reduce of Equal: GOAL_Reduce, GOAL_Ireduce, GOAL_Reduce_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op, root: c_int);
    Allreduce of Equal: GOAL_Allreduce, GOAL_Iallreduce, GOAL_Allreduce_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op);
    Gather of Equal: GOAL_Gather, GOAL_Igather, GOAL_Gather_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, root: c_int);
    Allgather of Equal: GOAL_Allgather, GOAL_Iallgather, GOAL_Allgather_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type);
    Scatter of Equal: GOAL_Scatter, GOAL_Iscatter, GOAL_Scatter_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, root: c_int);
    Alltoall of Equal: GOAL_Alltoall, GOAL_Ialltoall, GOAL_Alltoall_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type);
    ReduceScatter of Equal: GOAL_Reduce_scatter_block, GOAL_Ireduce_scatter_block, GOAL_Reduce_scatter_block_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op);
    Scan of Equal: GOAL_Scan, GOAL_Iscan, GOAL_Scan_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op);
    Exscan of Equal: GOAL_Exscan, GOAL_Iexscan, GOAL_Exscan_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op);
    Gather of Listed: GOAL_Gatherv, GOAL_Igatherv, GOAL_Gatherv_init
        (sendbuf: In, sendcount: i64, recvbuf: Out, recvcounts: *const i64, displs: *const i64,
         datatype: GOAL_Type, root: c_int);
    Scatter of Listed: GOAL_Scatterv, GOAL_Iscatterv, GOAL_Scatterv_init
        (sendbuf: In, sendcounts: *const i64, displs: *const i64, recvbuf: Out, recvcount: i64,
         datatype: GOAL_Type, root: c_int);
    Allgather of Listed: GOAL_Allgatherv, GOAL_Iallgatherv, GOAL_Allgatherv_init
        (sendbuf: In, sendcount: i64, recvbuf: Out, recvcounts: *const i64, displs: *const i64,
         datatype: GOAL_Type);
    Alltoall of Listed: GOAL_Alltoallv, GOAL_Ialltoallv, GOAL_Alltoallv_init
        (sendbuf: In, sendcounts: *const i64, sdispls: *const i64, recvbuf: Out,
         recvcounts: *const i64, rdispls: *const i64, datatype: GOAL_Type);
    ReduceScatter of Listed: GOAL_Reduce_scatter, GOAL_Ireduce_scatter, GOAL_Reduce_scatter_init
        (sendbuf: In, recvbuf: Out, recvcounts: *const i64, datatype: GOAL_Type, op: GOAL_Op);
    NeighborAllgather of Equal: GOAL_Neighbor_allgather, GOAL_Ineighbor_allgather, GOAL_Neighbor_allgather_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type);
    NeighborAllgather of Listed: GOAL_Neighbor_allgatherv, GOAL_Ineighbor_allgatherv, GOAL_Neighbor_allgatherv_init
        (sendbuf: In, sendcount: i64, recvbuf: Out, recvcounts: *const i64, displs: *const i64,
         datatype: GOAL_Type);
    NeighborAlltoall of Equal: GOAL_Neighbor_alltoall, GOAL_Ineighbor_alltoall, GOAL_Neighbor_alltoall_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type);
    NeighborAlltoall of Listed: GOAL_Neighbor_alltoallv, GOAL_Ineighbor_alltoallv, GOAL_Neighbor_alltoallv_init
        (sendbuf: In, sendcounts: *const i64, sdispls: *const i64, recvbuf: Out,
         recvcounts: *const i64, rdispls: *const i64, datatype: GOAL_Type);
}
