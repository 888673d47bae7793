//! Tests programs as ranks. The ranks are this file's own tests, started as processes of jobs.

mod bench;
mod deaths;
mod growing;
mod growth;
mod hosts;
mod output;
mod processes;
mod rank;
mod rights;
mod runs;
mod terminal;
