"""Collectives whose blocks differ, and collectives of neighbours."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Final, Optional, Union, final

from . import _goal
from ._goal import Communicator, Run, Schedule

# Any object with the buffer protocol; `collections.abc.Buffer` names it from Python 3.12 on.
Buffer = Any


@final
class InPlace:
    """The type of ``goal.IN_PLACE``."""

    def __repr__(self) -> str:
        return "goal.IN_PLACE"


IN_PLACE: Final = InPlace()
"""Given as ``send`` of a collective: the input lies where the output will be (MPI_IN_PLACE)."""

Input = Union[Buffer, InPlace, None]
Comm = Union[Communicator, None]
Counts = Optional[Iterable[int]]
# The name of an operation, or the number of a function that `Group.register` returned.
Op = Union[str, int]
_Lists = tuple[Optional[list[int]], Optional[list[int]]]


def _whole(numbers: Counts, name: str) -> Optional[list[int]]:
    try:
        return None if numbers is None else [operator.index(number) for number in numbers]
    except TypeError:
        raise TypeError(f"{name} is {numbers!r}: give a list of integers, one a block") from None


def _listed(lists: tuple[Counts, Counts]) -> _Lists:
    counts, displs = lists
    return _whole(counts, "counts"), _whole(displs, "displs")


class Collectives:
    """The collectives of a group with a count and a place for each block (those whose names end
    with ``v``), and those of neighbours in the graph of a communicator.
    """

    _world: Communicator

    def _collective(
        self,
        comm: Comm,
        kind: str,
        send: Input,
        recv: Input,
        op: Op = "sum",
        root: int = 0,
        sent: tuple[Counts, Counts] | None = None,
        received: tuple[Counts, Counts] | None = None,
    ) -> Schedule:
        arrays = (None if send is IN_PLACE else send, None if recv is IN_PLACE else recv)
        lists = None
        if sent is not None or received is not None:
            lists = (_listed(sent or (None, None)), _listed(received or (None, None)))
        comm = self._world if comm is None else comm
        return _goal._collective(comm, kind, arrays, op, root, lists)

    def gatherv(
        self,
        send: Input,
        recv: Input = None,
        counts: Counts = None,
        displs: Counts = None,
        root: int = 0,
        *,
        comm: Comm = None,
    ) -> None:
        """Puts the inputs of all ranks into ``recv`` of the root, that of rank r with ``counts[r]``
        elements at ``displs[r]``. Other ranks need neither ``recv`` nor lists. In place, the root's
        input is its block of ``recv``.
        """
        self.igatherv(send, recv, counts, displs, root, comm=comm).wait("gatherv")

    def igatherv(
        self,
        send: Input,
        recv: Input = None,
        counts: Counts = None,
        displs: Counts = None,
        root: int = 0,
        *,
        comm: Comm = None,
    ) -> Run:
        """Starts ``gatherv``."""
        return self.gatherv_init(send, recv, counts, displs, root, comm=comm).run()

    def gatherv_init(
        self,
        send: Input,
        recv: Input = None,
        counts: Counts = None,
        displs: Counts = None,
        root: int = 0,
        *,
        comm: Comm = None,
    ) -> Schedule:
        """Returns ``gatherv`` as a schedule."""
        return self._collective(comm, "gather", send, recv, root=root, received=(counts, displs))

    def scatterv(
        self,
        send: Input = None,
        recv: Input = None,
        counts: Counts = None,
        displs: Counts = None,
        root: int = 0,
        *,
        comm: Comm = None,
    ) -> None:
        """Gives rank r the ``counts[r]`` elements at ``displs[r]`` of ``send`` of the root. Other
        ranks need neither ``send`` nor lists, and a ``recv`` of as many elements. If the root's
        ``recv`` is ``goal.IN_PLACE`` or None, its block stays where it is.
        """
        self.iscatterv(send, recv, counts, displs, root, comm=comm).wait("scatterv")

    def iscatterv(
        self,
        send: Input = None,
        recv: Input = None,
        counts: Counts = None,
        displs: Counts = None,
        root: int = 0,
        *,
        comm: Comm = None,
    ) -> Run:
        """Starts ``scatterv``."""
        return self.scatterv_init(send, recv, counts, displs, root, comm=comm).run()

    def scatterv_init(
        self,
        send: Input = None,
        recv: Input = None,
        counts: Counts = None,
        displs: Counts = None,
        root: int = 0,
        *,
        comm: Comm = None,
    ) -> Schedule:
        """Returns ``scatterv`` as a schedule."""
        return self._collective(comm, "scatter", send, recv, root=root, sent=(counts, displs))

    def allgatherv(
        self, send: Input, recv: Buffer, counts: Counts, displs: Counts = None, *, comm: Comm = None
    ) -> None:
        """Puts the inputs of all ranks into ``recv`` of every rank, that of rank r with
        ``counts[r]`` elements at ``displs[r]``. In place, the input is the rank's block of
        ``recv``.
        """
        self.iallgatherv(send, recv, counts, displs, comm=comm).wait("allgatherv")

    def iallgatherv(
        self, send: Input, recv: Buffer, counts: Counts, displs: Counts = None, *, comm: Comm = None
    ) -> Run:
        """Starts ``allgatherv``."""
        return self.allgatherv_init(send, recv, counts, displs, comm=comm).run()

    def allgatherv_init(
        self, send: Input, recv: Buffer, counts: Counts, displs: Counts = None, *, comm: Comm = None
    ) -> Schedule:
        """Returns ``allgatherv`` as a schedule."""
        return self._collective(comm, "allgather", send, recv, received=(counts, displs))

    def alltoallv(
        self,
        send: Input,
        recv: Buffer,
        sendcounts: Counts,
        recvcounts: Counts,
        senddispls: Counts = None,
        recvdispls: Counts = None,
        *,
        comm: Comm = None,
    ) -> None:
        """Gives rank r the ``sendcounts[r]`` elements at ``senddispls[r]`` of ``send``, and puts
        the elements from it at ``recvdispls[r]`` of ``recv``. In place, what is sent lies where
        what is received will be, and the lists of ``recv`` count.
        """
        self.ialltoallv(
            send, recv, sendcounts, recvcounts, senddispls, recvdispls, comm=comm
        ).wait("alltoallv")

    def ialltoallv(
        self,
        send: Input,
        recv: Buffer,
        sendcounts: Counts,
        recvcounts: Counts,
        senddispls: Counts = None,
        recvdispls: Counts = None,
        *,
        comm: Comm = None,
    ) -> Run:
        """Starts ``alltoallv``."""
        return self.alltoallv_init(
            send, recv, sendcounts, recvcounts, senddispls, recvdispls, comm=comm
        ).run()

    def alltoallv_init(
        self,
        send: Input,
        recv: Buffer,
        sendcounts: Counts,
        recvcounts: Counts,
        senddispls: Counts = None,
        recvdispls: Counts = None,
        *,
        comm: Comm = None,
    ) -> Schedule:
        """Returns ``alltoallv`` as a schedule."""
        return self._collective(
            comm,
            "alltoall",
            send,
            recv,
            sent=(sendcounts, senddispls),
            received=(recvcounts, recvdispls),
        )

    def reduce_scatterv(
        self, send: Input, recv: Buffer, counts: Counts, op: Op = "sum", *, comm: Comm = None
    ) -> None:
        """Combines the inputs of all ranks, and gives rank r ``counts[r]`` elements of the result,
        behind those of the ranks before it (MPI's reduce_scatter). In place, the input is all of
        ``recv``.
        """
        self.ireduce_scatterv(send, recv, counts, op, comm=comm).wait("reduce_scatterv")

    def ireduce_scatterv(
        self, send: Input, recv: Buffer, counts: Counts, op: Op = "sum", *, comm: Comm = None
    ) -> Run:
        """Starts ``reduce_scatterv``."""
        return self.reduce_scatterv_init(send, recv, counts, op, comm=comm).run()

    def reduce_scatterv_init(
        self, send: Input, recv: Buffer, counts: Counts, op: Op = "sum", *, comm: Comm = None
    ) -> Schedule:
        """Returns ``reduce_scatterv`` as a schedule."""
        return self._collective(comm, "reduce-scatter", send, recv, op=op, received=(counts, None))

    def neighbor_allgather(self, send: Input, recv: Input, *, comm: Communicator) -> None:
        """Puts the inputs of this rank's sources, in their order, into ``recv``."""
        self.ineighbor_allgather(send, recv, comm=comm).wait("neighbor_allgather")

    def ineighbor_allgather(self, send: Input, recv: Input, *, comm: Communicator) -> Run:
        """Starts ``neighbor_allgather``."""
        return self.neighbor_allgather_init(send, recv, comm=comm).run()

    def neighbor_allgather_init(self, send: Input, recv: Input, *, comm: Communicator) -> Schedule:
        """Returns ``neighbor_allgather`` as a schedule."""
        return self._collective(comm, "neighbor-allgather", send, recv)

    def neighbor_allgatherv(
        self, send: Input, recv: Input, counts: Counts, displs: Counts = None, *, comm: Communicator
    ) -> None:
        """Puts the inputs of this rank's sources into ``recv``, that of source i with ``counts[i]``
        elements at ``displs[i]``.
        """
        self.ineighbor_allgatherv(send, recv, counts, displs, comm=comm).wait("neighbor_allgatherv")

    def ineighbor_allgatherv(
        self, send: Input, recv: Input, counts: Counts, displs: Counts = None, *, comm: Communicator
    ) -> Run:
        """Starts ``neighbor_allgatherv``."""
        return self.neighbor_allgatherv_init(send, recv, counts, displs, comm=comm).run()

    def neighbor_allgatherv_init(
        self, send: Input, recv: Input, counts: Counts, displs: Counts = None, *, comm: Communicator
    ) -> Schedule:
        """Returns ``neighbor_allgatherv`` as a schedule."""
        return self._collective(comm, "neighbor-allgather", send, recv, received=(counts, displs))

    def neighbor_alltoall(self, send: Input, recv: Input, *, comm: Communicator) -> None:
        """Gives each destination of this rank a block of ``send``, and puts the blocks from its
        sources into ``recv``.
        """
        self.ineighbor_alltoall(send, recv, comm=comm).wait("neighbor_alltoall")

    def ineighbor_alltoall(self, send: Input, recv: Input, *, comm: Communicator) -> Run:
        """Starts ``neighbor_alltoall``."""
        return self.neighbor_alltoall_init(send, recv, comm=comm).run()

    def neighbor_alltoall_init(self, send: Input, recv: Input, *, comm: Communicator) -> Schedule:
        """Returns ``neighbor_alltoall`` as a schedule."""
        return self._collective(comm, "neighbor-alltoall", send, recv)

    def neighbor_alltoallv(
        self,
        send: Input,
        recv: Input,
        sendcounts: Counts,
        recvcounts: Counts,
        senddispls: Counts = None,
        recvdispls: Counts = None,
        *,
        comm: Communicator,
    ) -> None:
        """Gives destination i the ``sendcounts[i]`` elements at ``senddispls[i]`` of ``send``, and
        puts the elements from source i at ``recvdispls[i]`` of ``recv``.
        """
        self.ineighbor_alltoallv(
            send, recv, sendcounts, recvcounts, senddispls, recvdispls, comm=comm
        ).wait("neighbor_alltoallv")

    def ineighbor_alltoallv(
        self,
        send: Input,
        recv: Input,
        sendcounts: Counts,
        recvcounts: Counts,
        senddispls: Counts = None,
        recvdispls: Counts = None,
        *,
        comm: Communicator,
    ) -> Run:
        """Starts ``neighbor_alltoallv``."""
        return self.neighbor_alltoallv_init(
            send, recv, sendcounts, recvcounts, senddispls, recvdispls, comm=comm
        ).run()

    def neighbor_alltoallv_init(
        self,
        send: Input,
        recv: Input,
        sendcounts: Counts,
        recvcounts: Counts,
        senddispls: Counts = None,
        recvdispls: Counts = None,
        *,
        comm: Communicator,
    ) -> Schedule:
        """Returns ``neighbor_alltoallv`` as a schedule."""
        return self._collective(
            comm,
            "neighbor-alltoall",
            send,
            recv,
            sent=(sendcounts, senddispls),
            received=(recvcounts, recvdispls),
        )
