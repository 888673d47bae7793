//! Tests of structures without the model checker.

mod board;
mod directory;
mod helpers;
mod napping;
