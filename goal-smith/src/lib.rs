//! goal-smith
