"""The group of ranks, and its collectives."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Union, final

from . import _goal
from ._blocks import IN_PLACE, Buffer, Collectives, Comm, InPlace, Input, Op
from ._goal import Communicator, Graph, Run, Schedule

if TYPE_CHECKING:
    import numpy

__all__ = ["IN_PLACE", "Group", "InPlace", "init"]

# A function of two buffers, which computes b = a f b.
Function = Callable[[memoryview, memoryview], object]


def init(progress: str | None = None, *, among: Any = None) -> Group:
    """Joins the group: the ranks that ``goal-run`` started together with this process, or this
    process alone. Returns when all ranks have called this. Once in a process.

    ``progress`` is how schedules make progress while the program computes: ``"caller"``, in its
    calls of this package only; ``"thread"``, by a thread that sleeps when there is nothing to do;
    None, as the option ``--progress`` of ``goal-run`` says (``node`` is the same as ``caller``).

    ``among`` is a communicator of mpi4py with all processes of the program, such as
    ``MPI.COMM_WORLD``. They become the ranks, with the numbers that they have there. Leave the group
    before ``MPI.Finalize``, which mpi4py calls at the program's end.

    Raises Error if it was called before, or the process can't attach to its job.
    """
    if among is None:
        rank, size = _goal._init(progress)
    else:
        rank, size = _goal._init(progress, (among.Get_rank(), among.Get_size(), among.allgather))
    return Group(rank, size)


@final
class Group(Collectives):
    """The ranks that this process belongs to; ``goal.init`` makes it.

    As a context manager it leaves the group at the end of the block, unless an exception ends the
    block: other ranks might wait for ever then, and ``goal-run`` ends them when this process exits.

    A collective has three forms: ``allreduce(...)`` returns when it is done, ``iallreduce(...)``
    returns a Run at once, and ``allreduce_init(...)`` returns a Schedule that can be run any number
    of times on the same arrays. All ranks of ``comm``, by default of the group, call the same
    collectives in the same order. The number of elements follows from the arrays by MPI's rules,
    and is the same at all ranks. An array that is too small raises Error before anything runs; a
    larger one keeps its further elements.

    ``send`` may be ``goal.IN_PLACE`` or None if the input lies in ``recv``, where MPI allows it.
    ``op`` is one of ``goal.OPERATIONS`` but ``"copy"``, ``"sub"`` and ``"div"``, or a number that
    ``register`` returned.

    Collectives whose names end with ``v`` take a number of elements and a place for each block, in
    elements of the arrays. Without places the blocks lie one behind the other. Gaps between blocks
    are not touched. Collectives of neighbours take a communicator of ``graph_communicator``.
    """

    def __init__(self, rank: int, size: int) -> None:
        self._rank = rank
        self._size = size
        self._world = Communicator()

    @property
    def rank(self) -> int:
        """This process's rank, from 0 on."""
        return self._rank

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self._size

    @property
    def world(self) -> Communicator:
        """The communicator of all ranks."""
        return self._world

    @property
    def progress(self) -> str:
        """How schedules make progress: ``"caller"``, ``"thread"`` or ``"node"``."""
        return _goal._progress()

    def communicator(
        self, ranks: Sequence[int], parent: Communicator | None = None
    ) -> Communicator:
        """Makes a communicator of ranks of ``parent``, by default of the group. Each rank in the
        list calls this with the same list. No message is exchanged."""
        return Communicator(list(ranks), parent)

    def graph_communicator(
        self,
        sources: Sequence[int],
        destinations: Sequence[int],
        parent: Communicator | None = None,
    ) -> Communicator:
        """Makes a communicator of all ranks of ``parent``, by default of the group, with a graph:
        this rank gets data from the sources and sends data to the destinations. All ranks call
        this, each with its own lists, in the same order. A list may name a rank several times, and
        the rank itself: the first edge from a rank to another one in its destinations is the first
        one in the other's sources, and so on. No message is exchanged; if the lists of two ranks do
        not fit, a collective waits for ever, which ``goal-run`` reports.
        """
        return _goal._graph_communicator(list(sources), list(destinations), parent)

    def register(self, function: Function) -> int:
        """Registers a function as a local operation, and returns its number, for ``Graph.call`` and
        as ``op`` of collectives. It gets two views of bytes and computes ``b = a f b`` in place; as
        an operation of a collective it must be associative, and need not commute.
        ``numpy.frombuffer`` makes an array of a view.

        The function is called by any thread that makes progress, and must not call this package. If
        it raises an exception, the next ``wait`` or ``test`` of a run of this process raises it,
        and the buffers stay as they were. It is kept until the process ends; the same function has
        the same number.
        """
        return _goal._register(function)

    def zeros(self, shape: int | Sequence[int], dtype: Any = float) -> numpy.ndarray[Any, Any]:
        """Returns a numpy array of zeros in memory that the other ranks of the host read in place,
        which saves a copy or a system call for large messages. The memory is freed with the last
        array over it. Raises Error if there is no room (``goal-run --heap``)."""
        array = self.empty(shape, dtype)
        array.fill(0)
        return array

    def empty(self, shape: int | Sequence[int], dtype: Any = float) -> numpy.ndarray[Any, Any]:
        """Returns such an array whose content is not defined."""
        import math
        import operator

        import numpy

        kind = numpy.dtype(dtype)
        if kind.hasobject:
            raise TypeError("an array of objects can't be in memory that ranks share")
        sides = tuple(shape) if isinstance(shape, Sequence) else (operator.index(shape),)
        block = _goal._Block(math.prod(sides) * kind.itemsize)
        array: numpy.ndarray[Any, Any] = numpy.asarray(block).view(kind).reshape(sides)
        return array

    def graph(self, comm: Communicator | None = None) -> Graph:
        """Returns an empty graph whose ranks count in ``comm``, by default in the group."""
        return Graph(comm)

    def finalize(self) -> None:
        """Leaves the group. Returns when all ranks have called this. Every run must have ended."""
        _goal._finalize()

    def __enter__(self) -> Group:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None and not _goal.is_finalized():
            self.finalize()

    def __repr__(self) -> str:
        return f"<goal.Group: rank {self._rank} of {self._size}>"

    def barrier(self, *, comm: Comm = None) -> None:
        """Returns when all ranks have called it."""
        self.ibarrier(comm=comm).wait("barrier")

    def ibarrier(self, *, comm: Comm = None) -> Run:
        """Starts ``barrier``."""
        return self.barrier_init(comm=comm).run()

    def barrier_init(self, *, comm: Comm = None) -> Schedule:
        """Returns ``barrier`` as a schedule."""
        return self._collective(comm, "barrier", None, None)

    def bcast(self, buf: Buffer, root: int = 0, *, comm: Comm = None) -> None:
        """Copies ``buf`` of the root to ``buf`` of every rank."""
        self.ibcast(buf, root, comm=comm).wait("bcast")

    def ibcast(self, buf: Buffer, root: int = 0, *, comm: Comm = None) -> Run:
        """Starts ``bcast``."""
        return self.bcast_init(buf, root, comm=comm).run()

    def bcast_init(self, buf: Buffer, root: int = 0, *, comm: Comm = None) -> Schedule:
        """Returns ``bcast`` as a schedule."""
        return self._collective(comm, "bcast", None, buf, root=root)

    def reduce(
        self, send: Input, recv: Input = None, op: Op = "sum", root: int = 0, *, comm: Comm = None
    ) -> None:
        """Combines the inputs of all ranks into ``recv`` of the root. Other ranks need no ``recv``;
        the root's ``send`` may be ``goal.IN_PLACE``.
        """
        self.ireduce(send, recv, op, root, comm=comm).wait("reduce")

    def ireduce(
        self, send: Input, recv: Input = None, op: Op = "sum", root: int = 0, *, comm: Comm = None
    ) -> Run:
        """Starts ``reduce``."""
        return self.reduce_init(send, recv, op, root, comm=comm).run()

    def reduce_init(
        self, send: Input, recv: Input = None, op: Op = "sum", root: int = 0, *, comm: Comm = None
    ) -> Schedule:
        """Returns ``reduce`` as a schedule."""
        return self._collective(comm, "reduce", send, recv, op=op, root=root)

    def allreduce(self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None) -> None:
        """Combines the inputs of all ranks into ``recv`` of every rank."""
        self.iallreduce(send, recv, op, comm=comm).wait("allreduce")

    def iallreduce(self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None) -> Run:
        """Starts ``allreduce``."""
        return self.allreduce_init(send, recv, op, comm=comm).run()

    def allreduce_init(
        self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None
    ) -> Schedule:
        """Returns ``allreduce`` as a schedule."""
        return self._collective(comm, "allreduce", send, recv, op=op)

    def gather(self, send: Input, recv: Input = None, root: int = 0, *, comm: Comm = None) -> None:
        """Puts the inputs of all ranks, in their order, into ``recv`` of the root. Other ranks need
        no ``recv``. In place, the root's input is its block of ``recv``.
        """
        self.igather(send, recv, root, comm=comm).wait("gather")

    def igather(self, send: Input, recv: Input = None, root: int = 0, *, comm: Comm = None) -> Run:
        """Starts ``gather``."""
        return self.gather_init(send, recv, root, comm=comm).run()

    def gather_init(
        self, send: Input, recv: Input = None, root: int = 0, *, comm: Comm = None
    ) -> Schedule:
        """Returns ``gather`` as a schedule."""
        return self._collective(comm, "gather", send, recv, root=root)

    def scatter(
        self, send: Input = None, recv: Input = None, root: int = 0, *, comm: Comm = None
    ) -> None:
        """Gives each rank its block of ``send`` of the root. Other ranks need no ``send``. If the
        root's ``recv`` is ``goal.IN_PLACE`` or None, its block stays where it is.
        """
        self.iscatter(send, recv, root, comm=comm).wait("scatter")

    def iscatter(
        self, send: Input = None, recv: Input = None, root: int = 0, *, comm: Comm = None
    ) -> Run:
        """Starts ``scatter``."""
        return self.scatter_init(send, recv, root, comm=comm).run()

    def scatter_init(
        self, send: Input = None, recv: Input = None, root: int = 0, *, comm: Comm = None
    ) -> Schedule:
        """Returns ``scatter`` as a schedule."""
        return self._collective(comm, "scatter", send, recv, root=root)

    def allgather(self, send: Input, recv: Buffer, *, comm: Comm = None) -> None:
        """Puts the inputs of all ranks, in their order, into ``recv`` of every rank. In place, the
        input is the rank's block of ``recv``.
        """
        self.iallgather(send, recv, comm=comm).wait("allgather")

    def iallgather(self, send: Input, recv: Buffer, *, comm: Comm = None) -> Run:
        """Starts ``allgather``."""
        return self.allgather_init(send, recv, comm=comm).run()

    def allgather_init(self, send: Input, recv: Buffer, *, comm: Comm = None) -> Schedule:
        """Returns ``allgather`` as a schedule."""
        return self._collective(comm, "allgather", send, recv)

    def alltoall(self, send: Input, recv: Buffer, *, comm: Comm = None) -> None:
        """Gives each rank a block of ``send``, and puts the blocks from all ranks into ``recv``."""
        self.ialltoall(send, recv, comm=comm).wait("alltoall")

    def ialltoall(self, send: Input, recv: Buffer, *, comm: Comm = None) -> Run:
        """Starts ``alltoall``."""
        return self.alltoall_init(send, recv, comm=comm).run()

    def alltoall_init(self, send: Input, recv: Buffer, *, comm: Comm = None) -> Schedule:
        """Returns ``alltoall`` as a schedule."""
        return self._collective(comm, "alltoall", send, recv)

    def reduce_scatter(
        self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None
    ) -> None:
        """Combines the inputs of all ranks, and gives each rank a block of the result (MPI's
        reduce_scatter_block). In place, the input is all of ``recv``, and the result its first
        block.
        """
        self.ireduce_scatter(send, recv, op, comm=comm).wait("reduce_scatter")

    def ireduce_scatter(
        self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None
    ) -> Run:
        """Starts ``reduce_scatter``."""
        return self.reduce_scatter_init(send, recv, op, comm=comm).run()

    def reduce_scatter_init(
        self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None
    ) -> Schedule:
        """Returns ``reduce_scatter`` as a schedule."""
        return self._collective(comm, "reduce-scatter", send, recv, op=op)

    def scan(self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None) -> None:
        """Combines the inputs of the ranks up to this one into ``recv``."""
        self.iscan(send, recv, op, comm=comm).wait("scan")

    def iscan(self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None) -> Run:
        """Starts ``scan``."""
        return self.scan_init(send, recv, op, comm=comm).run()

    def scan_init(
        self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None
    ) -> Schedule:
        """Returns ``scan`` as a schedule."""
        return self._collective(comm, "scan", send, recv, op=op)

    def exscan(self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None) -> None:
        """Combines the inputs of the ranks before this one into ``recv``, which rank 0 keeps."""
        self.iexscan(send, recv, op, comm=comm).wait("exscan")

    def iexscan(self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None) -> Run:
        """Starts ``exscan``."""
        return self.exscan_init(send, recv, op, comm=comm).run()

    def exscan_init(
        self, send: Input, recv: Buffer, op: Op = "sum", *, comm: Comm = None
    ) -> Schedule:
        """Returns ``exscan`` as a schedule."""
        return self._collective(comm, "exscan", send, recv, op=op)
