//! goal-interp
