//! Tests of structures without the model checker.

mod board;
mod helpers;
mod napping;
