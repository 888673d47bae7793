//! Tests the passes and their costs. Each module has one subject.

mod cost;
mod differential;
mod fusion;
mod levels;
mod order;
