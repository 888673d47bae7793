//! A directed graph with numbered nodes, in flat arrays.

/// The edges of a graph, by the node that they leave.
#[derive(Debug, Clone)]
pub struct Graph {
    /// By node, the position of its first edge; one more entry for the end.
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// Makes a graph of the edges that `visit` passes to its argument. `visit` is called twice and
    /// must pass the same edges. Returns `None` if 32 bits are too few to number them.
    pub fn new(nodes: usize, visit: impl Fn(&mut dyn FnMut(u32, u32))) -> Option<Self> {
        u32::try_from(nodes).ok()?;
        let mut starts = vec![0u32; nodes + 1];
        let mut edges = 0u64;
        visit(&mut |from, _| {
            edges += 1;
            starts[from as usize] = starts[from as usize].wrapping_add(1);
        });
        u32::try_from(edges).ok()?;
        Some(Self::filled(starts, edges as usize, visit))
    }

    /// Fills the rows. `starts` must hold the number of edges of each node.
    fn filled(
        mut starts: Vec<u32>,
        edges: usize,
        visit: impl Fn(&mut dyn FnMut(u32, u32)),
    ) -> Self {
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut targets = vec![0; edges];
        visit(&mut |from, to| {
            let at = &mut starts[from as usize];
            *at -= 1;
            targets[*at as usize] = to;
        });
        Self { starts, targets }
    }

    /// The graph with every edge reversed.
    pub fn reversed(&self) -> Self {
        let mut starts = vec![0u32; self.starts.len()];
        self.targets.iter().for_each(|&target| starts[target as usize] += 1);
        Self::filled(starts, self.targets.len(), |edge| {
            for node in 0..self.nodes() as u32 {
                self.row(node).iter().for_each(|&target| edge(target, node));
            }
        })
    }

    /// The number of nodes.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of edges.
    pub fn edges(&self) -> usize {
        self.targets.len()
    }

    /// Returns the nodes that all edges lead to, sorted by the node that the edge leaves.
    pub fn targets(&self) -> &[u32] {
        &self.targets
    }

    /// The nodes that the edges of a node lead to.
    #[inline]
    pub fn row(&self, node: u32) -> &[u32] {
        &self.targets[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}
