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

    /// The processor of a placement, or the rank's last one: a message without a receive names a
    /// processor of the sender.
    pub(super) fn cpu(&mut self, rank: u32, at: Placement) -> &mut f64 {
        let (first, end) = (self.first_cpu[rank as usize], self.first_cpu[rank as usize + 1]);
        &mut self.cpu[(first + usize::from(at.cpu)).min(end - 1)]
    }

    pub(super) fn sending(&mut self, rank: u32, at: Placement) -> &mut f64 {
        &mut self.sending[self.first_nic[rank as usize] + usize::from(at.nic)]
    }

    /// The receiving side of the interface of a placement, or of the rank's last one.
    pub(super) fn receiving(&mut self, rank: u32, at: Placement) -> &mut f64 {
        let (first, end) = (self.first_nic[rank as usize], self.first_nic[rank as usize + 1]);
        &mut self.receiving[(first + usize::from(at.nic)).min(end - 1)]
    }

    /// By rank, the time at which its last processor becomes free.
    pub(super) fn finish(&self) -> Vec<f64> {
        let last = |ends: &[usize]| self.cpu[ends[0]..ends[1]].iter().copied().fold(0.0, f64::max);
        self.first_cpu.windows(2).map(last).collect()
    }
}
