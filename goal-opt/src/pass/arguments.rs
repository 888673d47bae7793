//! Parameters of passes and their values.

/// Something of a pass that can be set.
#[derive(Debug)]
pub struct Parameter {
    /// The name in `--passes`.
    pub name: &'static str,
    /// What it is, with its unit.
    pub description: &'static str,
    /// What it may be.
    pub values: Values,
}

/// What a parameter may be, and what it is where nobody says.
#[derive(Debug)]
pub enum Values {
    /// A number of at least `min`. Without a default the pass decides, or insists.
    Number {
        /// The smallest allowed.
        min: u64,
        /// Where nobody says.
        default: Option<u64>,
    },
    /// One of these words; the first where nobody says.
    Word(&'static [&'static str]),
}

/// The values that an invocation of a pass was given, in the order of the pass's parameters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arguments(pub(super) Vec<(&'static str, Argument)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    Number(Option<u64>),
    Word(&'static str),
}

impl Arguments {
    /// The defaults.
    pub(super) fn new(parameters: &'static [Parameter]) -> Self {
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
    pub fn number(&self, name: &str) -> Option<u64> {
        match self.find(name) {
            Argument::Number(number) => number,
            Argument::Word(word) => panic!("{name} is the word {word}"),
        }
    }

    /// The word that a parameter was set to, or its default.
    ///
    /// # Panics
    /// If the pass's row in the table has no such parameter.
    pub fn word(&self, name: &str) -> &'static str {
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
