//! The settings with which a library's program is started: variables of the environment, and
//! arguments of its launcher.

use std::fmt;

/// Variables and arguments beside those that a library always has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) arguments: Vec<String>,
}

impl Setting {
    /// Reads words between spaces. Those as NAME=VALUE, where NAME has only capitals, digits and
    /// `_`, are variables.
    pub(crate) fn from_words(words: &str) -> Self {
        let mut this = Self::default();
        for word in words.split_whitespace() {
            match word.split_once('=').filter(|(name, _)| is_variable(name)) {
                Some((name, value)) => this.variables.push((name.to_owned(), value.to_owned())),
                None => this.arguments.push(word.to_owned()),
            }
        }
        this
    }
}

fn is_variable(name: &str) -> bool {
    let of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(of_name)
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        let words: Vec<String> = variables.chain(self.arguments.iter().cloned()).collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::Setting;

    #[test]
    fn variables_are_told_from_arguments() {
        let words = "--mca coll_sm_priority 100 I_MPI_FABRICS=shm --no-links --x=1";
        let setting = Setting::from_words(words);
        assert_eq!(setting.variables, [("I_MPI_FABRICS".to_owned(), "shm".to_owned())]);
        assert_eq!(setting.arguments, ["--mca", "coll_sm_priority", "100", "--no-links", "--x=1"]);
        assert_eq!(Setting::from_words(&setting.to_string()), setting);
    }
}
