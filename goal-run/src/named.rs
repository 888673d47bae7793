//! Parses settings that have one of a few names, on command lines.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use goal_job::Named;

/// Returns a clap parser for the names of a setting, with their help texts.
pub fn named<T: Named>() -> impl TypedValueParser<Value = T> {
    let names = T::NAMES.iter().map(|&(_, name, help)| PossibleValue::new(name).help(help));
    let parser = PossibleValuesParser::new(names);
    parser.map(|name| T::from_name(&name).expect("one of the possible values"))
}
