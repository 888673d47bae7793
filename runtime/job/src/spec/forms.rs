//! Reads and writes values of settings in the forms of the command line.

use goal_engine::Calc;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// A form in which the command line states values of type `T`.
pub(super) trait Form<T> {
    /// Returns the names that a value may have, and their help texts.
    fn names() -> Vec<(&'static str, &'static str)> {
        vec![]
    }

    /// Reads a value. The error is a text for the user.
    fn read(text: &str) -> Result<T, String>;

    /// Returns the text of a value; an empty text if there is no value.
    fn text(value: &T) -> String;
}

/// The form of a value that has one of a few names.
pub(super) struct Named;
/// The form that the type itself reads and displays. A flag is `true` or `false`.
pub(super) struct Text;
/// The form of a number of bytes, perhaps with a unit.
pub(super) struct Bytes;
/// The form of a number from `MIN` to `MAX`.
pub(super) struct Within<const MIN: u64, const MAX: u64>;
/// The form of a time in seconds, or of no time.
pub(super) struct Seconds;
/// The form of the factor of `calc` actions: `spin`, `skip` or a number.
pub(super) struct Factor;

impl<T: crate::Named> Form<T> for Named {
    fn names() -> Vec<(&'static str, &'static str)> {
        T::NAMES.iter().map(|&(_, name, help)| (name, help)).collect()
    }

    fn read(text: &str) -> Result<T, String> {
        let names = || T::NAMES.iter().map(|&(_, name, _)| name).collect::<Vec<_>>().join(", ");
        T::from_name(text).ok_or_else(|| format!("give one of {}", names()))
    }

    fn text(value: &T) -> String {
        value.name().to_owned()
    }
}

impl<T: FromStr<Err: Display> + Display> Form<T> for Text {
    fn read(text: &str) -> Result<T, String> {
        text.parse().map_err(|error: T::Err| error.to_string())
    }

    fn text(value: &T) -> String {
        value.to_string()
    }
}

impl Form<u64> for Bytes {
    fn read(text: &str) -> Result<u64, String> {
        Ok(goal_lang::limits::bytes(text)?)
    }

    fn text(value: &u64) -> String {
        value.to_string()
    }
}

macro_rules! within {
    ($($type:ty as $wide:ty),*) => {$(
        impl<const MIN: u64, const MAX: u64> Form<$type> for Within<MIN, MAX> {
            fn read(text: &str) -> Result<$type, String> {
                let number: $wide = Text::read(text)?;
                let within = <$type>::try_from(number).ok().filter(|&number| {
                    (MIN..=MAX).contains(&u64::from(number))
                });
                let most = if MAX == u64::MAX { format!("{MAX}") } else { format!("={MAX}") };
                within.ok_or_else(|| format!("{number} is not in {MIN}..{most}"))
            }

            fn text(value: &$type) -> String {
                value.to_string()
            }
        }
    )*};
}

within!(u16 as i64, u32 as i64, u64 as u64);

impl Form<Option<Duration>> for Seconds {
    fn read(text: &str) -> Result<Option<Duration>, String> {
        seconds(text).map(Some)
    }

    fn text(value: &Option<Duration>) -> String {
        value.map_or_else(String::new, |time| time.as_secs_f64().to_string())
    }
}

/// Reads a time in seconds.
///
/// # Errors
/// A text for the user.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|_| "give a number of seconds")?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

impl Form<Calc> for Factor {
    fn read(text: &str) -> Result<Calc, String> {
        match text {
            "spin" => Ok(Calc::Scaled(1.0)),
            "skip" => Ok(Calc::Skip),
            _ => match text.parse() {
                Ok(factor) if (0.0..f64::INFINITY).contains(&factor) => Ok(Calc::Scaled(factor)),
                _ => Err("give spin, skip or a factor of at least 0".to_owned()),
            },
        }
    }

    fn text(value: &Calc) -> String {
        match *value {
            Calc::Skip => "skip".to_owned(),
            Calc::Scaled(1.0) => "spin".to_owned(),
            Calc::Scaled(factor) => factor.to_string(),
        }
    }
}

/// Returns the factor that scales the duration of `calc` actions; `None` if these are skipped.
pub(crate) fn calc_factor(calc: Calc) -> Option<f64> {
    match calc {
        Calc::Skip => None,
        Calc::Scaled(factor) => Some(factor),
    }
}

/// Serializes a [`Calc`] as its factor.
pub(super) mod factor {
    use super::calc_factor;
    use goal_engine::Calc;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(calc: &Calc, to: S) -> Result<S::Ok, S::Error> {
        calc_factor(*calc).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Calc, D::Error> {
        let factor = Option::deserialize(from)?;
        Ok(factor.map_or(Calc::Skip, Calc::Scaled))
    }
}
