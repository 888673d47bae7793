//! Tests the command and its pages. Each module has one subject.

mod documentation;
mod documents;
mod interruption;
mod limits;
mod pictures;
mod terminal;
