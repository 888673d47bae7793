//! The schedules that are timed beside MPI's operations: for each the best algorithm that is known
//! for so few ranks in one memory. Operands lie as MPI's do: a rank's input from address 0 on,
//! its output behind that.

use super::Operation;
use super::plan::Plan;
use goal_collectives::{Request, algorithm};
use goal_lang::{
    Action, ActionId, Body, BodyBuilder, CollectiveKind, Datatype, Op, Payload, Piece, Placement,
    Program, ProgramBuilder, Space,
};

impl Operation {
    /// Returns the program for `ranks` ranks on one host. A replay brings its own. `bytes` is the
    /// size of a rank's input, or for each other rank if that differs.
    pub(crate) fn program(self, ranks: u32, bytes: u64) -> Program {
        self.build(ranks, bytes, false)
    }

    /// Returns the program for ranks on hosts of their own, on which a message costs more.
    pub(crate) fn program_between_hosts(self, ranks: u32, bytes: u64) -> Program {
        self.build(ranks, bytes, true)
    }

    fn build(self, ranks: u32, bytes: u64, is_far: bool) -> Program {
        if let Some((kind, name)) = self.collective(ranks, is_far, bytes) {
            let input = (self != Operation::Bcast).then_some(0);
            let (count, output) = match self {
                Operation::Allreduce | Operation::Reduce => (bytes / 4, bytes),
                _ => (bytes, self.result(ranks, bytes)),
            };
            let request = Request { count, input, output, ..Request::new(kind, ranks) };
            let algorithm = algorithm(kind, name).expect("the table has it");
            return algorithm.program(&request).expect("it is for any number of ranks");
        }
        let mut program = ProgramBuilder::default();
        for rank in 0..ranks {
            let mut body = Rank { rank, ranks, bytes, body: BodyBuilder::default() };
            match self {
                Operation::Pingpong => body.pingpong(),
                Operation::Allreduce if bytes <= WHOLE_MAX || !ranks.is_power_of_two() => {
                    body.allreduce_whole()
                }
                Operation::Allreduce => body.allreduce_parts(),
                Operation::Exchange => body.exchange(Plan::new(self, ranks, bytes).times),
                Operation::ExchangeAgain => body.exchange(1),
                Operation::Barrier
                | Operation::Bcast
                | Operation::Reduce
                | Operation::Gather
                | Operation::Scatter
                | Operation::Allgather
                | Operation::Alltoall
                | Operation::Mix
                | Operation::MixWorld
                | Operation::Replay => {}
                Operation::Halo => body.halo(Plan::new(self, ranks, bytes).times),
            }
            program.rank_with(body.finish());
        }
        program.finish()
    }

    /// Returns the collective that the operation is, and the algorithm that is best for so few
    /// ranks. Other allreduces are built here: theirs write no operand, and combine pieces that fit
    /// a cache.
    fn collective(
        self,
        ranks: u32,
        is_far: bool,
        bytes: u64,
    ) -> Option<(CollectiveKind, &'static str)> {
        match self {
            Operation::Allreduce if is_far && bytes <= WHOLE_MAX => {
                Some((CollectiveKind::Allreduce, "recursive-doubling"))
            }
            Operation::Barrier if is_far && ranks.is_power_of_two() => {
                Some((CollectiveKind::Barrier, "recursive-doubling"))
            }
            Operation::Barrier if is_far => Some((CollectiveKind::Barrier, "dissemination")),
            // In one round a rank that shares its processor gives it away once.
            Operation::Barrier => Some((CollectiveKind::Barrier, "direct")),
            // In one memory that is one copy each, all at once.
            Operation::Bcast => Some((CollectiveKind::Bcast, "linear")),
            Operation::Reduce => Some((CollectiveKind::Reduce, "linear")),
            Operation::Gather => Some((CollectiveKind::Gather, "linear")),
            Operation::Scatter => Some((CollectiveKind::Scatter, "linear")),
            Operation::Allgather => Some((CollectiveKind::Allgather, "linear")),
            Operation::Alltoall => Some((CollectiveKind::Alltoall, "linear")),
            _ => None,
        }
    }

    /// Returns the address of the result.
    pub(crate) fn result(self, ranks: u32, bytes: u64) -> u64 {
        match self {
            Operation::Allreduce if bytes <= WHOLE_MAX && ranks.is_power_of_two() => {
                u64::from(ranks.ilog2()) * bytes
            }
            Operation::Pingpong | Operation::Barrier | Operation::Bcast => 0,
            Operation::Alltoall | Operation::Scatter => bytes * u64::from(ranks),
            _ => bytes,
        }
    }
}

/// The largest allreduce in bytes in which every rank adds up everything. In a larger one a rank
/// adds up only its part.
const WHOLE_MAX: u64 = 4096;

/// The most bytes that are added up at once, so that the operands fit a cache.
const PIECE: u64 = 128 << 10;

/// Rows of a rank's part in a halo exchange.
pub(crate) const ROWS: u32 = 4;

/// Bytes of an element of an allreduce.
const ELEMENT: u64 = 4;

struct Rank {
    rank: u32,
    ranks: u32,
    bytes: u64,
    body: BodyBuilder,
}

impl Rank {
    fn finish(self) -> Body {
        self.body.finish()
    }

    fn send(&mut self, to: u32, addr: u64, size: u64, tag: u32) -> ActionId {
        let payload = Payload::Buffer(Piece { addr, size, space: Space::Memory });
        self.body.action(Action::Send { payload, to, tag, placement: Placement::default() })
    }

    fn recv(&mut self, from: u32, addr: u64, size: u64, tag: u32) -> ActionId {
        let payload = Payload::Buffer(Piece { addr, size, space: Space::Memory });
        self.body.action(Action::Recv { payload, from, tag, placement: Placement::default() })
    }

    /// B = A op B.
    fn exec(&mut self, op: Op, a: u64, b: u64, size: u64) -> ActionId {
        self.local(op, [a, b, 0], false, size)
    }

    /// C = A op B.
    fn exec_into(&mut self, op: Op, a: u64, b: u64, c: u64, size: u64) -> ActionId {
        self.local(op, [a, b, c], true, size)
    }

    fn local(&mut self, op: Op, [a, b, c]: [u64; 3], has_c: bool, size: u64) -> ActionId {
        let (datatype, spaces) = (Datatype::Int32, [Space::Memory; 3]);
        self.body.action(Action::Exec { op, datatype, spaces, has_c, a, b, c, size })
    }

    /// Returns the other ranks, nearest above first, so that no two ranks begin with the same one.
    fn peers(&self) -> impl Iterator<Item = u32> + use<> {
        let (rank, ranks) = (self.rank, self.ranks);
        (1..ranks).map(move |distance| (rank + distance) % ranks)
    }

    fn pingpong(&mut self) {
        let (peer, n) = (1 - self.rank, self.bytes);
        let receive = self.recv(peer, n, n, 0);
        let send = self.send(peer, 0, n, 0);
        if self.rank == 1 {
            self.body.requires(send, receive);
        }
    }

    /// Recursive doubling where the number of ranks allows it, or else everything to everybody.
    fn allreduce_whole(&mut self) {
        let n = self.bytes;
        if !self.ranks.is_power_of_two() {
            let peers: Vec<u32> = self.peers().collect();
            let mut sum = self.exec(Op::Copy, 0, n, n);
            for (place, peer) in (2u64..).zip(peers) {
                self.send(peer, 0, n, 0);
                let receive = self.recv(peer, place * n, n, 0);
                let next = self.exec(Op::Sum, place * n, n, n);
                self.body.requires(next, receive);
                self.body.requires(next, sum);
                sum = next;
            }
            return;
        }
        // Round k sends block k, and adds up what it receives in block k + 1.
        let mut sum: Option<ActionId> = None;
        for round in 0..self.ranks.ilog2() {
            let (from, into) = (u64::from(round) * n, u64::from(round + 1) * n);
            let peer = self.rank ^ 1 << round;
            let send = self.send(peer, from, n, round);
            let receive = self.recv(peer, into, n, round);
            let next = self.exec(Op::Sum, from, into, n);
            self.body.requires(next, receive);
            if let Some(sum) = sum {
                self.body.requires(send, sum);
                self.body.requires(next, sum);
            }
            sum = Some(next);
        }
    }

    /// Each rank adds up its part of all operands, and sends the result to all ranks. This happens
    /// piece by piece: a piece that was just received or added up is still in the cache, and one
    /// piece travels while another is added up.
    fn allreduce_parts(&mut self) {
        let (n, ranks) = (self.bytes, u64::from(self.ranks));
        let part = (n / ranks).next_multiple_of(ELEMENT);
        let pieces = |rank: u32| {
            let start = (part * u64::from(rank)).min(n);
            let end = (start + part).min(n);
            let piece = move |at: u64| (at, (at + PIECE).min(end) - at);
            (0..).zip((start..end).step_by(PIECE as usize).map(piece))
        };
        let peers: Vec<u32> = self.peers().collect();
        for &peer in &peers {
            for (number, (theirs, size)) in pieces(peer) {
                self.send(peer, theirs, size, 2 * number);
            }
        }
        for (number, (mine, size)) in pieces(self.rank) {
            let mut sum: Option<ActionId> = None;
            for (place, &peer) in (0u64..).zip(&peers) {
                // The first piece arrives at the place of the result, the others behind it.
                let into = if place == 0 { n + mine } else { 2 * n + place * part + mine % part };
                let receive = self.recv(peer, into, size, 2 * number);
                let source = if place == 0 { mine } else { into };
                let next = self.exec(Op::Sum, source, n + mine, size);
                self.body.requires(next, receive);
                if let Some(sum) = sum {
                    self.body.requires(next, sum);
                }
                sum = Some(next);
            }
            for &peer in &peers {
                let send = self.send(peer, n + mine, size, 2 * number + 1);
                if let Some(sum) = sum {
                    self.body.requires(send, sum);
                }
            }
        }
        for &peer in &peers {
            for (number, (theirs, size)) in pieces(peer) {
                self.recv(peer, n + theirs, size, 2 * number + 1);
            }
        }
    }

    /// A step adds what came in the step before, behind the operand, to the operand.
    fn exchange(&mut self, steps: u32) {
        let (n, peer) = (self.bytes, self.rank ^ 1);
        let mut before: Option<[ActionId; 2]> = None;
        for _ in 0..steps {
            let sum = self.exec(Op::Sum, n, 0, n);
            before.into_iter().flatten().for_each(|action| self.body.requires(sum, action));
            let (send, receive) = (self.send(peer, 0, n, 0), self.recv(peer, n, n, 0));
            self.body.requires(send, sum);
            self.body.requires(receive, sum);
            before = Some([send, receive]);
        }
    }

    /// A step computes each row of the rank's part, and sends the first and the last row to the
    /// neighbours. A row is the sum of the rows above and below it in the step before. Two grids
    /// alternate.
    fn halo(&mut self, steps: u32) {
        let n = self.bytes;
        let (above, below) =
            ((self.rank + self.ranks - 1) % self.ranks, (self.rank + 1) % self.ranks);
        let (first, last) = (1, ROWS as usize);
        let at =
            |step: u32, row: usize| u64::from(step % 2) * u64::from(ROWS + 2) * n + row as u64 * n;
        // The actions that wrote each row of the step before, its sums, its messages, and the sends
        // of the last two steps.
        let mut writers: [Option<ActionId>; ROWS as usize + 2] = [None; ROWS as usize + 2];
        let mut sums: Option<[ActionId; ROWS as usize]> = None;
        let mut messages: Option<[ActionId; 4]> = None;
        let mut sends: [Option<[ActionId; 2]>; 2] = [None; 2];
        for step in 0..steps {
            let mut sum = |row: usize| {
                let (a, b) = (at(step, row - 1), at(step, row + 1));
                let sum = self.exec_into(Op::Sum, a, b, at(step + 1, row), n);
                for writer in [writers[row - 1], writers[row + 1]].into_iter().flatten() {
                    self.body.requires(sum, writer);
                }
                // Before it replaces the row, that row was read by two sums of the step before,
                // and a border was sent by the step before that.
                for reader in
                    [row - 1, row + 1].into_iter().filter(|row| (first..=last).contains(row))
                {
                    if let Some(sums) = sums {
                        self.body.requires(sum, sums[reader - 1]);
                    }
                }
                if let Some([up, down]) = sends[step as usize % 2] {
                    if row == first {
                        self.body.requires(sum, up);
                    }
                    if row == last {
                        self.body.requires(sum, down);
                    }
                }
                sum
            };
            // Borders first, so that they leave early.
            let (top, bottom) = (sum(first), sum(last));
            let mut of_step = [top; ROWS as usize];
            of_step[last - 1] = bottom;
            for row in first + 1..last {
                of_step[row - 1] = sum(row);
            }
            let next = step + 1;
            let up = self.send(above, at(next, first), n, 0);
            let down = self.send(below, at(next, last), n, 1);
            self.body.requires(up, top);
            self.body.requires(down, bottom);
            let over = self.recv(above, at(next, 0), n, 1);
            let under = self.recv(below, at(next, last + 1), n, 0);
            // Messages of a neighbour are taken in the order of the steps.
            if let Some(before) = messages {
                for (message, before) in [up, down, over, under].into_iter().zip(before) {
                    self.body.requires(message, before);
                }
            }
            messages = Some([up, down, over, under]);
            // The sums of the step before read what these replace.
            if let Some(sums) = sums {
                self.body.requires(over, sums[first - 1]);
                self.body.requires(under, sums[last - 1]);
            }
            writers[0] = Some(over);
            writers[last + 1] = Some(under);
            for (writer, &sum) in writers[first..=last].iter_mut().zip(&of_step) {
                *writer = Some(sum);
            }
            sums = Some(of_step);
            sends[step as usize % 2] = Some([up, down]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Operation;
    use goal_check::{Collective, Options, check};
    use goal_lang::{CollectiveKind, Datatype, Function, Op};

    #[test]
    fn each_is_what_its_name_says() {
        for operation in Operation::ALL {
            for ranks in [2, 3, 4].into_iter().filter(|&ranks| operation.allows(ranks)) {
                for bytes in [8, 1 << 16, 1 << 20] {
                    let kind = match operation {
                        Operation::Pingpong
                        | Operation::Exchange
                        | Operation::ExchangeAgain
                        | Operation::Halo
                        | Operation::Mix
                        | Operation::MixWorld
                        | Operation::Replay => None,
                        Operation::Reduce => Some(CollectiveKind::Reduce),
                        Operation::Scatter => Some(CollectiveKind::Scatter),
                        Operation::Barrier => Some(CollectiveKind::Barrier),
                        Operation::Bcast => Some(CollectiveKind::Bcast),
                        Operation::Allreduce => Some(CollectiveKind::Allreduce),
                        Operation::Gather => Some(CollectiveKind::Gather),
                        Operation::Allgather => Some(CollectiveKind::Allgather),
                        Operation::Alltoall => Some(CollectiveKind::Alltoall),
                    };
                    let collective = kind.map(|kind| Collective {
                        kind,
                        root: 0,
                        function: Function::Predefined(Op::Sum, Datatype::Int32),
                        datatype: Datatype::Int32,
                        count: Some(bytes / 4),
                        blocks: goal_check::Blocks::Equal,
                        neighbors: None,
                        input: Some(0),
                        output: operation.result(ranks, bytes),
                    });
                    let options = Options { collective, eager_limit: 0, ..Options::default() };
                    let report = check(&operation.program(ranks, bytes), None, &options);
                    assert!(
                        report.diagnostics.is_empty(),
                        "{operation:?} {ranks} {bytes}: {report:?}"
                    );
                }
            }
        }
    }
}
