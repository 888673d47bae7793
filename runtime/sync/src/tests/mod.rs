//! Tests of structures without the model checker.

mod helpers;
