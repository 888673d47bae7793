//! Collectives, in three forms each from one table: blocking, non-blocking and persistent.
#![allow(unsafe_code)] // exported names, buffers of the caller
#![allow(clippy::needless_update)] // some collectives have all of the arguments

use crate::arguments::rank;
use crate::border::{border, status};
use crate::communicator::communicator;
use crate::run::wait;
use crate::schedule::{handle, keep};
use crate::types::{
    GOAL_Comm, GOAL_Handle, GOAL_Op, GOAL_Schedule, GOAL_Type, USER_OP, operation, whole_type,
};
use crate::user::is_registered;
use goal::raw::Ticket;
use goal::{Collective, Communicator, Error, ErrorCode, Result};
use goal_lang::{CollectiveKind, Datatype, Function, Op};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// The address that stands for "in place" (`GOAL_IN_PLACE`).
const IN_PLACE: usize = usize::MAX;

/// The arguments of a call. Those that a collective has not keep these values.
struct Arguments {
    sendbuf: usize,
    recvbuf: usize,
    count: i64,
    datatype: GOAL_Type,
    op: GOAL_Op,
    root: c_int,
}

const NONE: Arguments =
    Arguments { sendbuf: 0, recvbuf: 0, count: 0, datatype: 0x108, op: 2, root: 0 };

/// A call whose arguments are checked.
struct Call {
    collective: Collective,
    communicator: Arc<Communicator>,
    input: usize,
    output: usize,
}

impl Call {
    fn new(kind: CollectiveKind, arguments: &Arguments, comm: GOAL_Comm) -> Result<Self> {
        let &Arguments { sendbuf, recvbuf, count, datatype, op, root } = arguments;
        let communicator = communicator(comm)?;
        let Ok(count) = u64::try_from(count) else {
            let text = format!("count is {count}, and can't be negative");
            return Err(Error::new(ErrorCode::Count, text));
        };
        let element = whole_type(datatype)?;
        let function = if !kind.combines() {
            Function::Predefined(Op::Sum, Datatype::UInt8)
        } else if op >= USER_OP {
            let number = op - USER_OP;
            if !is_registered(number) {
                let text = format!("no function is registered as {number} (GOAL_Reg_func)");
                return Err(Error::new(ErrorCode::Operation, text));
            }
            Function::User(number as u32)
        } else {
            Function::Predefined(operation(op, element)?, element.datatype)
        };
        let root = rank(root, "root")?;
        // A scatter is in place at its root, where the output is the input, and else at no rank.
        let (input, output, in_place) = match kind {
            CollectiveKind::Bcast => (0, recvbuf, true),
            CollectiveKind::Scatter if recvbuf == IN_PLACE => (0, sendbuf, true),
            _ if sendbuf == IN_PLACE => (0, recvbuf, true),
            _ => (sendbuf, recvbuf, kind == CollectiveKind::Barrier),
        };
        if output == IN_PLACE {
            let text = "GOAL_IN_PLACE can't be given for this buffer";
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        if !in_place && input == output && input != 0 && count > 0 {
            let text = "sendbuf and recvbuf are the same: give GOAL_IN_PLACE as one of them";
            return Err(Error::new(ErrorCode::Buffer, text));
        }
        let datatype = element.datatype;
        let collective = Collective { kind, count, datatype, function, root, in_place };
        Ok(Self { collective, communicator, input, output })
    }

    fn start(&self) -> Result<Ticket> {
        // SAFETY: the header states the caller's duties: the buffers have MPI's sizes, last until
        // the run has ended, and nobody uses them against the collective meanwhile.
        unsafe { self.collective.start(&self.communicator, self.input, self.output) }
    }

    fn prepare(&self) -> Result<GOAL_Schedule> {
        let prepared = self.collective.compile(&self.communicator, None)?;
        let buffers: Box<[usize]> = match self.collective.in_place {
            true => Box::new([self.output]),
            false => Box::new([self.input, self.output]),
        };
        keep(prepared.into_schedule(), Some(buffers))
    }
}

/// Defines the three functions of each collective. Arguments have the names of [`Arguments`].
macro_rules! collectives {
    ($($kind:ident: $blocking:ident, $starting:ident, $preparing:ident
       ($($argument:ident: $type:ty),*);)*) => {$(
        #[unsafe(no_mangle)]
        extern "C" fn $blocking($($argument: $type,)* comm: GOAL_Comm) -> c_int {
            let name = stringify!($blocking);
            status(name, || {
                let arguments = Arguments { $($argument: $argument as _,)* ..NONE };
                wait(Call::new(CollectiveKind::$kind, &arguments, comm)?.start()?, name)
            })
        }

        #[unsafe(no_mangle)]
        extern "C" fn $starting($($argument: $type,)* comm: GOAL_Comm) -> GOAL_Handle {
            border(stringify!($starting), || {
                let arguments = Arguments { $($argument: $argument as _,)* ..NONE };
                Call::new(CollectiveKind::$kind, &arguments, comm)?.start().map(handle)
            })
        }

        #[unsafe(no_mangle)]
        extern "C" fn $preparing($($argument: $type,)* comm: GOAL_Comm) -> GOAL_Schedule {
            border(stringify!($preparing), || {
                let arguments = Arguments { $($argument: $argument as _,)* ..NONE };
                Call::new(CollectiveKind::$kind, &arguments, comm)?.prepare()
            })
        }
    )*};
}

type In = *const c_void;
type Out = *mut c_void;

collectives! {
    Barrier: GOAL_Barrier, GOAL_Ibarrier, GOAL_Barrier_init();
    Bcast: GOAL_Bcast, GOAL_Ibcast, GOAL_Bcast_init
        (recvbuf: Out, count: i64, datatype: GOAL_Type, root: c_int);
    Reduce: GOAL_Reduce, GOAL_Ireduce, GOAL_Reduce_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op, root: c_int);
    Allreduce: GOAL_Allreduce, GOAL_Iallreduce, GOAL_Allreduce_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op);
    Gather: GOAL_Gather, GOAL_Igather, GOAL_Gather_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, root: c_int);
    Allgather: GOAL_Allgather, GOAL_Iallgather, GOAL_Allgather_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type);
    Scatter: GOAL_Scatter, GOAL_Iscatter, GOAL_Scatter_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, root: c_int);
    Alltoall: GOAL_Alltoall, GOAL_Ialltoall, GOAL_Alltoall_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type);
    ReduceScatter: GOAL_Reduce_scatter_block, GOAL_Ireduce_scatter_block, GOAL_Reduce_scatter_block_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op);
    Scan: GOAL_Scan, GOAL_Iscan, GOAL_Scan_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op);
    Exscan: GOAL_Exscan, GOAL_Iexscan, GOAL_Exscan_init
        (sendbuf: In, recvbuf: Out, count: i64, datatype: GOAL_Type, op: GOAL_Op);
}
