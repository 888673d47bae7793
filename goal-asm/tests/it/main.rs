//! Tests the documented forms of NISA, and properties of its decoder.

mod documents;
mod properties;
