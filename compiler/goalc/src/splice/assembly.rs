//! A body that is put together from parts of others.

use goal_lang::{
    Action, ActionId, Body, Csr, Edge, Labels, Payload, Pieces, StatedEdges, StatedOrder,
};

/// The reason why parts don't fit into one body.
#[derive(Debug, thiserror::Error)]
pub(super) enum AssemblyError {
    #[error("it would have 2^32 actions, dependencies or parts of buffers, or more")]
    TooLarge,
    #[error("its memory is a table of buffers in one of the programs, and another one elsewhere")]
    Tables,
}

/// Collects actions and dependencies. The stated order of dependencies and roots is kept, because
/// simulators follow it.
#[derive(Default)]
pub(super) struct Assembly {
    body: Body,
    requires: Vec<Edge>,
    irequires: Vec<Edge>,
    roots: Vec<ActionId>,
    labels: Labels,
    /// The number of bodies that were added.
    parts: u32,
}

impl Assembly {
    pub(super) fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.body.len()
    }

    /// Adds an action.
    pub(super) fn action(&mut self, action: Action) -> Result<ActionId, AssemblyError> {
        let id = u32::try_from(self.body.len()).ok().filter(|&id| id < u32::MAX);
        self.body.actions.push(action);
        id.map(ActionId).ok_or(AssemblyError::TooLarge)
    }

    /// Adds a dependency.
    pub(super) fn requires(&mut self, waiter: ActionId, prerequisite: ActionId) {
        self.requires.push(Edge { waiter, prerequisite });
    }

    /// Adds the actions of `body`, each as `change` returns it. Actions for which it returns `None`
    /// are left out, with their dependencies.
    pub(super) fn add(
        &mut self,
        body: &Body,
        mut change: impl FnMut(ActionId, Action) -> Option<Action>,
    ) -> Result<(), AssemblyError> {
        let shift = u32::try_from(self.body.pieces.len()).map_err(|_| AssemblyError::TooLarge)?;
        let pieces = self.body.pieces.len() + body.pieces.len();
        u32::try_from(pieces).map_err(|_| AssemblyError::TooLarge)?;
        if self.parts > 0 && self.body.buffers != body.buffers {
            return Err(AssemblyError::Tables);
        }
        self.parts += 1;
        self.body.buffers.clone_from(&body.buffers);
        self.body.pieces.extend_from_slice(&body.pieces);
        self.body.scratch = self.body.scratch.max(body.scratch);
        let mut places: Vec<Option<ActionId>> = Vec::with_capacity(body.len());
        for id in body.ids() {
            let place = match change(id, *body.action(id)) {
                Some(action) => Some(self.action(with_pieces_behind(action, shift))?),
                None => None,
            };
            if place.is_some() {
                self.labels.push(body.debug.labels.get(id).unwrap_or_default());
            }
            places.push(place);
        }
        let edges = |stated: StatedEdges<'_>, edges: &mut Vec<Edge>| {
            for id in body.ids() {
                let Some(prerequisite) = places[id.index()] else { continue };
                let waiters = stated.row(id).iter().filter_map(|waiter| places[waiter.index()]);
                edges.extend(waiters.map(|waiter| Edge { waiter, prerequisite }));
            }
        };
        edges(body.stated_requires(), &mut self.requires);
        edges(body.stated_irequires(), &mut self.irequires);
        let roots = body.debug.order.iter().flat_map(|order| &order.roots);
        self.roots.extend(roots.filter_map(|root| places[root.index()]));
        Ok(())
    }

    /// Returns the body. It has names if it is made of one body.
    pub(super) fn finish(self) -> Result<Body, AssemblyError> {
        let Self { mut body, requires, irequires, roots, labels, parts } = self;
        u32::try_from(requires.len() + irequires.len()).map_err(|_| AssemblyError::TooLarge)?;
        let mut order = StatedOrder::default();
        (body.requires, _, order.requires) = Csr::stated(body.len(), &requires, &[]);
        (body.irequires, _, order.irequires) = Csr::stated(body.len(), &irequires, &[]);
        order.roots = stated_roots(&body, roots);
        body.debug.order = order.boxed();
        if parts == 1 && labels.len() == body.len() && !labels.text().is_empty() {
            body.debug.labels = labels;
        }
        Ok(body)
    }
}

/// Returns the roots of a body: first those of `stated` in their order, then the others. Returns
/// nothing if that order ascends.
fn stated_roots(body: &Body, stated: Vec<ActionId>) -> Vec<ActionId> {
    if stated.is_empty() {
        return stated;
    }
    let mut is_root: Vec<bool> = body.indegrees().iter().map(|&indegree| indegree == 0).collect();
    let mut roots = stated;
    roots.retain(|root| std::mem::replace(&mut is_root[root.index()], false));
    roots.extend(body.ids().filter(|id| is_root[id.index()]));
    if roots.is_sorted() { Vec::new() } else { roots }
}

/// Returns an action whose pieces are `shift` entries further in the table.
fn with_pieces_behind(mut action: Action, shift: u32) -> Action {
    let moved = |pieces: &mut Pieces| {
        if pieces.len > 0 {
            pieces.first += shift;
        }
    };
    match &mut action {
        Action::Send { payload, .. } | Action::Recv { payload, .. } => match payload {
            Payload::Vector(pieces) => moved(pieces),
            Payload::Reduced { operands, .. } => *operands += shift,
            Payload::Pattern { .. } | Payload::Buffer(_) => {}
        },
        Action::ExecVector { operands, .. } => operands.iter_mut().for_each(moved),
        Action::User { operands, .. } => operands.iter_mut().for_each(moved),
        Action::Calc { .. }
        | Action::Exec { .. }
        | Action::Wtime { .. }
        | Action::Nop
        | Action::Marker { .. } => {}
    }
    action
}

/// Drops the places of a text from a body, because its program is no longer that text.
pub(super) fn drop_places(body: &mut Body) {
    let debug = &mut body.debug;
    debug.actions.clear();
    debug.requires.clear();
    debug.irequires.clear();
    debug.lines.clear();
    debug.source_name.clear();
}
