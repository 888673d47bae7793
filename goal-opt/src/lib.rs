//! goal-opt
