//! The times at which the processors and the network interfaces of every rank become free.

use goal_lang::{Action, Placement, Program};

/// For each rank, the times in nanoseconds at which its processors and both sides of its network
/// interfaces become free.
pub(super) struct Lanes {
    /// By rank, the position of its first processor in `cpu`; one more entry for the end.
    first_cpu: Vec<usize>,
    /// By rank, the position of its first interface in `sending` and `receiving`.
    first_nic: Vec<usize>,
    cpu: Vec<f64>,
    sending: Vec<f64>,
    receiving: Vec<f64>,
}

/// The processor that an event occupies, and the side of a network interface, if it needs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Taken {
    cpu: usize,
    side: Side,
}

/// A side of a network interface, with the index of the interface in [`Lanes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    None,
    Sending(usize),
    Receiving(usize),
}

/// The placement of an action. Local operations are on the first processor.
pub(super) fn placement(action: &Action) -> Placement {
    match *action {
        Action::Send { placement, .. }
        | Action::Recv { placement, .. }
        | Action::Calc { placement, .. } => placement,
        _ => Placement::default(),
    }
}

impl Lanes {
    pub(super) fn new(program: &Program) -> Self {
        let counts: Vec<(usize, usize)> = program
            .bodies
            .iter()
            .map(|body| {
                body.actions.iter().map(placement).fold((1, 1), |(cpus, nics), placement| {
                    (
                        cpus.max(usize::from(placement.cpu) + 1),
                        nics.max(usize::from(placement.nic) + 1),
                    )
                })
            })
            .collect();
        let (mut first_cpu, mut first_nic) = (vec![0], vec![0]);
        for (rank, entry) in program.ranks.iter().enumerate() {
            let (cpus, nics) = counts[entry.body.index()];
            first_cpu.push(first_cpu[rank] + cpus);
            first_nic.push(first_nic[rank] + nics);
        }
        let (cpus, nics) = (first_cpu[program.ranks.len()], first_nic[program.ranks.len()]);
        Self {
            first_cpu,
            first_nic,
            cpu: vec![0.0; cpus],
            sending: vec![0.0; nics],
            receiving: vec![0.0; nics],
        }
    }

    /// Returns the processor that a local action takes.
    pub(super) fn of_local(&self, rank: u32, at: Placement) -> Taken {
        Taken { cpu: self.cpu_at(rank, at), side: Side::None }
    }

    /// Returns the processor and the interface that a send takes.
    pub(super) fn of_send(&self, rank: u32, at: Placement) -> Taken {
        Taken { cpu: self.cpu_at(rank, at), side: Side::Sending(self.nic_at(rank, at)) }
    }

    /// Returns the processor and the interface that an arriving message takes.
    pub(super) fn of_arrival(&self, rank: u32, at: Placement) -> Taken {
        Taken { cpu: self.cpu_at(rank, at), side: Side::Receiving(self.nic_at(rank, at)) }
    }

    /// Returns the index of the processor of a placement, but at most the rank's last one. A
    /// message without a receive names a processor of the sender, which this rank may lack.
    fn cpu_at(&self, rank: u32, at: Placement) -> usize {
        let (first, end) = (self.first_cpu[rank as usize], self.first_cpu[rank as usize + 1]);
        (first + usize::from(at.cpu)).min(end - 1)
    }

    /// Returns the index of the interface of a placement, but at most the rank's last one.
    fn nic_at(&self, rank: u32, at: Placement) -> usize {
        let (first, end) = (self.first_nic[rank as usize], self.first_nic[rank as usize + 1]);
        (first + usize::from(at.nic)).min(end - 1)
    }

    /// The time at which a processor becomes free.
    pub(super) fn cpu_free(&self, rank: u32, at: Placement) -> f64 {
        self.cpu[self.cpu_at(rank, at)]
    }

    /// Returns the time at which both the processor and the interface side of `taken` are free, in
    /// nanoseconds.
    pub(super) fn free(&self, taken: Taken) -> f64 {
        self.cpu[taken.cpu].max(match taken.side {
            Side::None => 0.0,
            Side::Sending(nic) => self.sending[nic],
            Side::Receiving(nic) => self.receiving[nic],
        })
    }

    /// Occupies the processor of `taken` until the time `cpu`, and the interface side until the
    /// time `nic`.
    pub(super) fn take(&mut self, taken: Taken, cpu: f64, nic: f64) {
        self.cpu[taken.cpu] = cpu;
        match taken.side {
            Side::None => {}
            Side::Sending(at) => self.sending[at] = nic,
            Side::Receiving(at) => self.receiving[at] = nic,
        }
    }

    /// By rank, the time at which its last processor becomes free.
    pub(super) fn finish(&self) -> Vec<f64> {
        let last = |ends: &[usize]| self.cpu[ends[0]..ends[1]].iter().copied().fold(0.0, f64::max);
        self.first_cpu.windows(2).map(last).collect()
    }
}
