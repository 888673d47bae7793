//! Parameters of passes and their values.

/// A parameter of a pass.
#[derive(Debug)]
pub struct Parameter {
    /// The name in lists of passes.
    pub name: &'static str,
    /// One line that says what it sets, with the unit.
    pub description: &'static str,
    /// The allowed values and the default.
    pub values: Values,
}

/// The allowed values of a parameter, and its default.
#[derive(Debug)]
pub enum Values {
    /// A number of at least `min`. Without a default the pass chooses one, or refuses to run.
    Number {
        /// The smallest allowed number.
        min: u64,
        /// The number if none is given.
        default: Option<u64>,
    },
    /// One of these words; the first is the default.
    Word(&'static [&'static str]),
}

/// The values of the parameters for one run of a pass. They are in the order in which the pass's
/// row of the table has the parameters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Arguments(pub(crate) Vec<(&'static str, Argument)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    Number(Option<u64>),
    Word(&'static str),
}

impl Arguments {
    /// The default of each parameter.
    pub(crate) fn new(parameters: &'static [Parameter]) -> Self {
        let default = |parameter: &'static Parameter| match parameter.values {
            Values::Number { default, .. } => (parameter.name, Argument::Number(default)),
            Values::Word(words) => (parameter.name, Argument::Word(words[0])),
        };
        Self(parameters.iter().map(default).collect())
    }

    /// The number that a parameter was set to, or its default.
    ///
    /// # Panics
    /// If the pass's row in the table has no such parameter.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.find(name) {
            Argument::Number(number) => number,
            Argument::Word(word) => panic!("{name} is the word {word}"),
        }
    }

    /// The word that a parameter was set to, or its default.
    ///
    /// # Panics
    /// If the pass's row in the table has no such parameter.
    pub(crate) fn word(&self, name: &str) -> &'static str {
        match self.find(name) {
            Argument::Word(word) => word,
            Argument::Number(_) => panic!("{name} is a number"),
        }
    }

    fn find(&self, name: &str) -> Argument {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.unwrap_or_else(|| panic!("the table has no parameter {name}")).1
    }
}
