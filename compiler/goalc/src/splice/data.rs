//! The bytes of memory that a body works on.

use goal_lang::{Action, Body, Payload, Placement};

/// Returns an action that ends as soon as it begins, and only carries dependencies.
pub(super) fn dummy(placement: Placement) -> Action {
    Action::Calc { nanos: 0, placement }
}

/// Returns true if actions of the body name memory, or if they are local operations.
pub(super) fn has_data(body: &Body) -> bool {
    body.scratch > 0 || !body.buffers.is_empty() || body.actions.iter().any(names_data)
}

/// Returns true if an action names memory, or is a local operation.
pub(super) fn names_data(action: &Action) -> bool {
    match action {
        Action::Send { payload, .. } | Action::Recv { payload, .. } => {
            !matches!(payload, Payload::Pattern { .. })
        }
        Action::Calc { .. } | Action::Nop | Action::Marker { .. } => false,
        _ => true,
    }
}

/// Drops the data of a body: buffers become sizes, and local operations become dummies.
pub(super) fn drop_data(body: &mut Body) {
    for at in 0..body.actions.len() {
        let mut action = body.actions[at];
        match &mut action {
            Action::Send { payload, .. } | Action::Recv { payload, .. } => {
                *payload = Payload::Pattern { size: body.payload_size(*payload) };
            }
            action if names_data(action) => *action = dummy(Placement::default()),
            _ => {}
        }
        body.actions[at] = action;
    }
    body.pieces.clear();
    body.scratch = 0;
    body.buffers.clear();
}
