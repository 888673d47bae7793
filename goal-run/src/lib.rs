//! goal-run
