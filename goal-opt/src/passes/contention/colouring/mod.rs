//! Edge colouring of a bipartite multigraph with as many colours as its largest degree has edges
//! (König 1916).

use rustc_hash::{FxBuildHasher, FxHashMap};

const NONE: u32 = u32::MAX;

/// Marks an entry of `degrees` as a position in the list.
const START: u32 = 1 << 31;

/// The number of steps on alternating paths that each edge of the graph adds to the bound on all of
/// them.
const STEPS_PER_EDGE: usize = 64;

/// Gives each edge a colour, so that no two edges at a vertex of either side have the same. Colours
/// are numbers below the largest degree.
///
/// A split along Euler trails halves all degrees, and each half is coloured alone (Gabow and Kariv
/// 1982). If an odd degree leads to one colour too many, the edges of the rarest colour get others
/// along alternating paths. Takes O(m log D) for m edges and degree D, except for these paths. If
/// the paths take more than [`STEPS_PER_EDGE`] steps for each edge, the additional colour stays.
/// There may then be up to twice as many colours as needed.
pub(super) fn colour(edges: &[(u32, u32)]) -> Colours {
    let mut colouring = Colouring::new(edges);
    colouring.solve(&(0..edges.len() as u32).collect::<Vec<_>>());
    Colours { is_cut_short: colouring.steps_left == 0 && !edges.is_empty(), of: colouring.colours }
}

/// A colouring.
pub(super) struct Colours {
    /// The colour of each edge.
    pub(super) of: Vec<u32>,
    /// True if there may be more colours than needed.
    pub(super) is_cut_short: bool,
}

/// A colouring under construction.
struct Colouring {
    /// Both vertices of each edge, in one numbering without gaps: even numbers on the left, odd
    /// ones on the right.
    edges: Vec<[u32; 2]>,
    colours: Vec<u32>,
    /// By vertex, scratch for one split: its degree, then the end of its edges in a list.
    degrees: Vec<u32>,
    /// By vertex, scratch for one split: the begin of its edges in the list.
    firsts: Vec<u32>,
    used: Vec<bool>,
    /// The number of steps on alternating paths that are left.
    steps_left: usize,
}

impl Colouring {
    fn new(edges: &[(u32, u32)]) -> Self {
        let mut numbers = [FxHashMap::default(), FxHashMap::default()];
        let mut number = |side: usize, name: u32| {
            let next = 2 * numbers[side].len() as u32 + side as u32;
            *numbers[side].entry(name).or_insert(next)
        };
        let edges: Vec<[u32; 2]> =
            edges.iter().map(|&(left, right)| [number(0, left), number(1, right)]).collect();
        let vertices = edges.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        Self {
            colours: vec![NONE; edges.len()],
            degrees: vec![0; vertices],
            firsts: vec![0; vertices],
            used: vec![false; edges.len()],
            steps_left: STEPS_PER_EDGE * edges.len(),
            edges,
        }
    }

    /// Colours some edges and returns the number of colours: their largest degree, unless paths are
    /// cut short.
    fn solve(&mut self, edges: &[u32]) -> u32 {
        let degree = self.count_degrees(edges);
        if degree <= 1 {
            edges.iter().for_each(|&edge| self.colours[edge as usize] = 0);
            self.forget_degrees(edges);
            return degree;
        }
        let [first, second] = self.split(edges);
        let below = self.solve(&first);
        let above = self.solve(&second);
        second.iter().for_each(|&edge| self.colours[edge as usize] += below);
        let mut colours = below + above;
        while colours > degree && self.drop_colour(edges, colours - 1) {
            colours -= 1;
        }
        colours
    }

    /// Computes the degree of each vertex in `degrees` and returns the largest.
    fn count_degrees(&mut self, edges: &[u32]) -> u32 {
        let mut largest = 0;
        for &edge in edges {
            for vertex in self.edges[edge as usize] {
                self.degrees[vertex as usize] += 1;
                largest = largest.max(self.degrees[vertex as usize]);
            }
        }
        largest
    }

    fn forget_degrees(&mut self, edges: &[u32]) {
        for &edge in edges {
            for vertex in self.edges[edge as usize] {
                self.degrees[vertex as usize] = 0;
            }
        }
    }

    /// Divides edges into two halves, so that the numbers of edges at each vertex differ by one at
    /// most. `degrees` must hold the degrees and is cleared.
    fn split(&mut self, edges: &[u32]) -> [Vec<u32>; 2] {
        // The vertices of the edges. `list` below gets the edges of each vertex, one vertex after
        // the other. `degrees` becomes the end of the unused part of a vertex's edges in it.
        let mut vertices: Vec<u32> = Vec::new();
        let mut odd = Vec::new();
        let mut end = 0;
        for &edge in edges {
            for vertex in self.edges[edge as usize] {
                let degree = &mut self.degrees[vertex as usize];
                if *degree & START == 0 {
                    vertices.push(vertex);
                    if *degree % 2 == 1 {
                        odd.push(vertex);
                    }
                    self.firsts[vertex as usize] = end;
                    end += *degree;
                    *degree = START | self.firsts[vertex as usize];
                }
            }
        }
        let mut list = vec![0; end as usize];
        for &edge in edges {
            for vertex in self.edges[edge as usize] {
                let at = &mut self.degrees[vertex as usize];
                list[(*at & !START) as usize] = edge;
                *at += 1;
            }
        }
        let mut halves =
            [Vec::with_capacity(edges.len() / 2 + 1), Vec::with_capacity(edges.len() / 2 + 1)];
        for &start in odd.iter().chain(&vertices) {
            let mut vertex = start;
            while let Some(edge) = self.take(vertex, &list) {
                halves[vertex as usize % 2].push(edge);
                let [left, right] = self.edges[edge as usize];
                vertex = if vertex == left { right } else { left };
            }
        }
        for &edge in edges {
            self.used[edge as usize] = false;
        }
        self.forget_degrees(edges);
        halves
    }

    /// Takes the next edge at a vertex that no trail has used.
    fn take(&mut self, vertex: u32, list: &[u32]) -> Option<u32> {
        let end = &mut self.degrees[vertex as usize];
        while (*end & !START) > self.firsts[vertex as usize] {
            *end -= 1;
            let edge = list[(*end & !START) as usize];
            if !std::mem::replace(&mut self.used[edge as usize], true) {
                return Some(edge);
            }
        }
        None
    }

    /// Reduces the colours of edges from `colours` + 1, one more than needed, to `colours`. Returns
    /// false if this takes too many steps.
    fn drop_colour(&mut self, edges: &[u32], colours: u32) -> bool {
        let mut counts = vec![0u32; colours as usize + 1];
        edges.iter().for_each(|&edge| counts[self.colours[edge as usize] as usize] += 1);
        let rarest = (0..=colours).min_by_key(|&colour| counts[colour as usize]).unwrap_or(colours);
        let mut homeless = Vec::new();
        let mut at = Slots::new(self.degrees.len(), colours, edges.len());
        for &edge in edges {
            let colour = &mut self.colours[edge as usize];
            if *colour == rarest {
                homeless.push(edge);
                continue;
            }
            if *colour == colours {
                *colour = rarest;
            }
            for vertex in self.edges[edge as usize] {
                at.set(vertex, *colour, edge);
            }
        }
        let mut is_dropped = true;
        for edge in homeless {
            if self.steps_left == 0 {
                self.colours[edge as usize] = colours;
                is_dropped = false;
                continue;
            }
            let [left, right] = self.edges[edge as usize];
            let free = |vertex: u32, at: &Slots| {
                let colour = (0..colours).find(|&colour| at.at(vertex, colour).is_none());
                colour.expect("a vertex has no more edges than there are colours")
            };
            let (of_left, of_right) = (free(left, &at), free(right, &at));
            let colour = if at.at(left, of_right).is_some() {
                self.swap_path(right, [of_left, of_right], &mut at);
                of_left
            } else {
                of_right
            };
            self.colours[edge as usize] = colour;
            at.set(left, colour, edge);
            at.set(right, colour, edge);
        }
        is_dropped
    }

    /// Swaps two colours along the alternating path that begins at `start` with an edge of the
    /// first colour. In a bipartite graph, the path never reaches a vertex of the other side that
    /// has no edge of the first colour.
    fn swap_path(&mut self, start: u32, colours: [u32; 2], at: &mut Slots) {
        let mut path = Vec::new();
        let (mut vertex, mut next) = (start, 0);
        while let Some(edge) = at.at(vertex, colours[next]) {
            path.push(edge);
            let [left, right] = self.edges[edge as usize];
            vertex = if vertex == left { right } else { left };
            next = 1 - next;
        }
        self.steps_left = self.steps_left.saturating_sub(path.len());
        for &edge in &path {
            for vertex in self.edges[edge as usize] {
                at.set(vertex, self.colours[edge as usize], NONE);
            }
        }
        for (i, edge) in path.into_iter().enumerate() {
            let colour = colours[1 - i % 2];
            self.colours[edge as usize] = colour;
            for vertex in self.edges[edge as usize] {
                at.set(vertex, colour, edge);
            }
        }
    }
}

/// By vertex and colour, the edge: a table if most entries are used, otherwise a map.
enum Slots {
    Table { edges: Vec<u32>, colours: usize },
    Map(FxHashMap<(u32, u32), u32>),
}

impl Slots {
    fn new(vertices: usize, colours: u32, edges: usize) -> Self {
        let colours = colours as usize;
        match vertices.checked_mul(colours) {
            Some(size) if size <= 8 * edges => Slots::Table { edges: vec![NONE; size], colours },
            _ => Slots::Map(FxHashMap::with_capacity_and_hasher(2 * edges, FxBuildHasher)),
        }
    }

    fn at(&self, vertex: u32, colour: u32) -> Option<u32> {
        let edge = match self {
            Slots::Table { edges, colours } => edges[vertex as usize * colours + colour as usize],
            Slots::Map(map) => map.get(&(vertex, colour)).copied().unwrap_or(NONE),
        };
        (edge != NONE).then_some(edge)
    }

    fn set(&mut self, vertex: u32, colour: u32, edge: u32) {
        match self {
            Slots::Table { edges, colours } => {
                edges[vertex as usize * *colours + colour as usize] = edge
            }
            Slots::Map(map) => drop(map.insert((vertex, colour), edge)),
        }
    }
}

#[cfg(test)]
mod tests;
