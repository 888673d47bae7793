//! `goalc explain`.

use goal_lang::diag::Code;
use goalc::driver::{Error, print};

#[derive(clap::Args)]
#[command(after_long_help = "\
Examples:
  goalc explain G0007
  goalc explain cycle
  goalc explain             all codes with their kinds")]
pub(crate) struct Arguments {
    /// A code (G0007) or the name of its kind (cycle); without one, all codes are listed
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    let Some(wanted) = &arguments.code else {
        return print(|out| {
            Code::ALL.iter().try_for_each(|code| {
                writeln!(out, "{code}  {:<8} {}", code.severity().name(), code.kind())
            })
        });
    };
    match Code::named(wanted) {
        Some(code) => print(|out| out.write_all(code.page().as_bytes())),
        None => {
            let meant = Code::nearest(wanted).map(|near| format!(": did you mean `{near}`?"));
            let meant = meant.unwrap_or_default();
            Err(Error::Usage(format!(
                "there is no code `{wanted}`{meant}; `goalc explain` lists all"
            )))
        }
    }
}
