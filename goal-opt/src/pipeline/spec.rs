//! Reads lists of passes with parameters: `a,b(c=4)`.

use crate::pass::{Argument, Arguments, Parameter, Pass, Values};
use crate::passes::PASSES;

/// A pass with the parameters that it runs with.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The pass.
    pub pass: &'static Pass,
    /// Its parameters.
    pub(crate) arguments: Arguments,
}

/// The reason why a list of passes is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// No pass has this name.
    #[error("there is no pass `{0}`: the passes are {known}", known = names())]
    UnknownPass(String),
    /// The pass has no parameter of this name.
    #[error("the pass `{pass}` has no parameter `{parameter}`: {known}", known = parameters(pass))]
    UnknownParameter {
        /// The pass.
        pass: &'static str,
        /// The given text.
        parameter: String,
    },
    /// The parameter does not allow the value.
    #[error("`{parameter}={value}`: {expected}")]
    Value {
        /// The parameter.
        parameter: &'static str,
        /// The given text.
        value: String,
        /// The allowed values.
        expected: String,
    },
    /// A parameter is set twice, by its name or by a value without a name.
    #[error("the parameter `{parameter}` of the pass `{pass}` is given twice")]
    Twice {
        /// The pass.
        pass: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// The parentheses don't match, or a name is missing.
    #[error("`{0}` is no list of passes: write a,b(c=4)")]
    Form(String),
}

fn names() -> String {
    PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>().join(", ")
}

fn parameters(pass: &str) -> String {
    let found = PASSES.iter().find(|known| known.name == pass);
    let names: Vec<_> = found
        .into_iter()
        .flat_map(|pass| pass.parameters)
        .map(|parameter| parameter.name)
        .collect();
    if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) }
}

/// Reads a list of passes, which may be empty. A value without a name belongs to the first
/// parameter.
pub(super) fn parse(text: &str) -> Result<Vec<Invocation>, SpecError> {
    let form = || SpecError::Form(text.to_owned());
    let mut invocations = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let end = rest.find([',', '(']).unwrap_or(rest.len());
        let pass = find(rest[..end].trim()).ok_or_else(|| match rest[..end].trim() {
            "" => form(),
            name => SpecError::UnknownPass(name.to_owned()),
        })?;
        let mut arguments = Arguments::new(pass.parameters);
        let mut given = vec![false; pass.parameters.len()];
        rest = rest[end..].trim_start();
        if let Some(inside) = rest.strip_prefix('(') {
            let close = inside.find(')').ok_or_else(form)?;
            for setting in
                inside[..close].split(',').map(str::trim).filter(|setting| !setting.is_empty())
            {
                set(pass, &mut arguments, &mut given, setting)?;
            }
            rest = inside[close + 1..].trim_start();
        }
        invocations.push(Invocation { pass, arguments });
        match rest.strip_prefix(',') {
            Some(after) if !after.trim().is_empty() => rest = after.trim_start(),
            None if rest.is_empty() => {}
            _ => return Err(form()),
        }
    }
    Ok(invocations)
}

fn find(name: &str) -> Option<&'static Pass> {
    PASSES.iter().find(|pass| pass.name == name)
}

fn set(
    pass: &'static Pass,
    arguments: &mut Arguments,
    given: &mut [bool],
    setting: &str,
) -> Result<(), SpecError> {
    let (name, value) = match setting.split_once('=') {
        Some((name, value)) => (name.trim(), value.trim()),
        None => (pass.parameters.first().map_or(setting, |first| first.name), setting),
    };
    let at = pass.parameters.iter().position(|parameter| parameter.name == name);
    let at = at.ok_or_else(|| SpecError::UnknownParameter {
        pass: pass.name,
        parameter: name.to_owned(),
    })?;
    if std::mem::replace(&mut given[at], true) {
        return Err(SpecError::Twice { pass: pass.name, parameter: pass.parameters[at].name });
    }
    arguments.0[at].1 = read(&pass.parameters[at], value)?;
    Ok(())
}

fn read(parameter: &'static Parameter, value: &str) -> Result<Argument, SpecError> {
    let wrong = |expected: String| SpecError::Value {
        parameter: parameter.name,
        value: value.to_owned(),
        expected,
    };
    match parameter.values {
        Values::Number { min, .. } => match value.parse() {
            Ok(number) if number >= min => Ok(Argument::Number(Some(number))),
            _ => Err(wrong(format!("give a number of at least {min}"))),
        },
        Values::Word(words) => match words.iter().find(|word| **word == value) {
            Some(word) => Ok(Argument::Word(word)),
            None => Err(wrong(format!("give {}", words.join(" or ")))),
        },
    }
}
