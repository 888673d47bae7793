//! `goalc gen`: writes the program of a collective.

mod arguments;
mod requests;

pub(crate) use arguments::Arguments;

use arguments::Form;
use goal_asm::EncodeError;
use goal_collectives::{
    ALGORITHMS, Algorithm, GenerateError, Request, Table, TableError, algorithm,
};
use goal_lang::{Body, CollectiveKind, Relation, print_ranks, print_symmetric};
use goalc::driver::{self, Emit, Error, Options, Output, Target, print_line};
use requests::Requests;
use serde_json::json;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// The most bytes that are read of a table.
const TABLE_BYTES_MAX: u64 = 16 << 20;

pub(crate) fn run(arguments: &Arguments) -> Result<(), Error> {
    if arguments.list {
        return list(arguments);
    }
    let (Some(kind), Some(ranks)) = (arguments.collective, arguments.ranks) else {
        unreachable!("clap asks for them");
    };
    let requests = Requests::new(arguments, kind, ranks)?;
    let request = requests.of_rank(0);
    let algorithm = match arguments.algorithm.as_str() {
        "auto" => choose(arguments, &request)?,
        _ if arguments.table.is_some() => {
            let message = "--table is for --algorithm auto: leave one of them out";
            return Err(Error::Usage(message.to_owned()));
        }
        name => algorithm(kind, name).ok_or_else(|| unknown(kind, name))?,
    };
    refuse_unheeded(arguments, algorithm)?;
    algorithm.check(&request).map_err(usage)?;
    write(arguments, algorithm, &request, |rank| requests.body(algorithm, &request, rank))
}

/// Writes the program whose ranks have these graphs, in the form that the name of the result asks
/// for. `request` is that of rank 0.
fn write(
    arguments: &Arguments,
    algorithm: &Algorithm,
    request: &Request,
    body: impl Fn(u32) -> Result<Body, GenerateError>,
) -> Result<(), Error> {
    let path = arguments.o.clone().unwrap_or_else(|| PathBuf::from("-"));
    let target = Target::new(&path).apart_from(&arguments.table)?;
    let has_extension = |name| path.extension().is_some_and(|extension| extension == name);
    let is_schedule = has_extension("nisa");
    if arguments.relative && (is_schedule || has_extension("bin")) {
        let message = "--relative is for texts: a binary has every rank";
        return Err(Error::Usage(message.to_owned()));
    }
    if has_extension("bin") {
        let ranks = |rank| body(rank).map(|body| (body, None)).map_err(usage);
        let size = (request.ranks, true);
        driver::write_ranks(&target, Emit::Loggopsim, &Options::default(), size, ranks)?;
        return Ok(());
    }
    let symmetric = arguments.relative.then(|| algorithm.symmetric(request)).transpose();
    let symmetric = symmetric.map_err(|error| unlike(&error))?;
    let mut out = Output::create(&target, is_schedule)?;
    let style = arguments.style.style();
    let body = |rank| body(rank).map_err(Failure::Generate);
    let written = if let Some(program) = symmetric {
        print_symmetric(&program, style, &mut out).map_err(Failure::Io)
    } else if is_schedule {
        goal_asm::encode_ranks(request.ranks, &mut out, body)
    } else {
        print_ranks(request.ranks, style, &mut out, body)
    };
    written.map_err(|failure| match failure {
        Failure::Generate(error) => usage(error),
        Failure::Io(error) | Failure::Encode(EncodeError::Io(error)) => {
            Error::io(out.name(), error)
        }
        Failure::Encode(error) => Error::Usage(error.to_string()),
    })?;
    out.finish()
}

/// The reason why no program was written.
enum Failure {
    Generate(GenerateError),
    Io(io::Error),
    Encode(EncodeError),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<EncodeError> for Failure {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

fn usage(error: GenerateError) -> Error {
    Error::Usage(error.to_string())
}

/// Returns the error of an algorithm that has no text with relative peers.
fn unlike(error: &GenerateError) -> Error {
    let GenerateError::Unlike { .. } = error else { return Error::Usage(error.to_string()) };
    let alike = ALGORITHMS.iter().filter(|algorithm| algorithm.relation.is_some());
    let names: Vec<String> =
        alike.map(|Algorithm { kind, name, .. }| format!("{kind} {name}")).collect();
    Error::Usage(format!(
        "{error}: leave out --relative, or take one of {} (goalc gen --list tells about them)",
        names.join(", ")
    ))
}

fn unknown(kind: CollectiveKind, name: &str) -> Error {
    let known: Vec<&str> = of(Some(kind)).map(|algorithm| algorithm.name).collect();
    Error::Usage(format!(
        "{kind} has no algorithm {name}: take one of {} (goalc gen --list tells about them)",
        known.join(", ")
    ))
}

/// Returns the algorithms of a collective, or all.
fn of(kind: Option<CollectiveKind>) -> impl Iterator<Item = &'static Algorithm> {
    ALGORITHMS.iter().filter(move |algorithm| kind.is_none_or(|kind| algorithm.kind == kind))
}

/// Returns the algorithm that the table chooses, and prints a line about the choice on standard
/// error.
fn choose(arguments: &Arguments, request: &Request) -> Result<&'static Algorithm, Error> {
    let (table, name) = match &arguments.table {
        None => (Table::published(), "--algorithm auto".to_owned()),
        Some(path) => {
            let name = path.display().to_string();
            let mut text = String::new();
            let read = |file: File| file.take(TABLE_BYTES_MAX).read_to_string(&mut text);
            File::open(path).and_then(read).map_err(|error| Error::io(&name, error))?;
            let table = Table::parse(&text);
            (table.map_err(|error| Error::Usage(format!("{name}: {error}")))?, name)
        }
    };
    let (algorithm, rule) = table.choose(request).map_err(|error| match error {
        TableError::Request(error) => Error::Usage(error.to_string()),
        error => Error::Usage(format!("{name}: {error}")),
    })?;
    print_line(&format!("goalc: {} by {} ({})", request.kind, algorithm.name, rule.source));
    Ok(algorithm)
}

/// Refuses options that an algorithm does not use.
fn refuse_unheeded(arguments: &Arguments, algorithm: &Algorithm) -> Result<(), Error> {
    // A table of decisions uses nodes, too.
    let (is_flat, is_auto) = (!algorithm.has_levels(), arguments.algorithm == "auto");
    let unheeded = [
        ("segment", arguments.segment.is_some() && !algorithm.has_segments),
        ("degree", arguments.degree.is_some() && !algorithm.has_degree),
        ("nodes", arguments.nodes.is_some() && is_flat && !is_auto),
        ("per-node", arguments.per_node.is_some() && is_flat && !is_auto),
        ("inner", arguments.inner.is_some() && is_flat),
        ("outer", arguments.outer.is_some() && is_flat),
    ];
    match unheeded.into_iter().find(|&(_, is_given)| is_given) {
        Some((name, _)) => {
            let algorithm = algorithm.name;
            Err(Error::Usage(format!("{algorithm} has no --{name}: leave it out")))
        }
        None => Ok(()),
    }
}

fn list(arguments: &Arguments) -> Result<(), Error> {
    let mut out = Output::create(&Target::Stdout, false)?;
    let written = of(arguments.collective).try_for_each(|algorithm| {
        let Algorithm { kind, name, about, source, ranks, operations, .. } = algorithm;
        match arguments.format {
            Form::Json => {
                let object = json!({
                    "collective": kind.name(),
                    "algorithm": name,
                    "about": about,
                    "source": source,
                    "ranks": ranks.name(),
                    "operations": operations.name(),
                    "segment": algorithm.has_segments,
                    "degree": algorithm.has_degree,
                    "one_round": algorithm.has_one_round,
                    "relative": algorithm.relation.map(|relation| match relation {
                        Relation::Shift => "any",
                        Relation::Xor => "power-of-two",
                    }),
                });
                writeln!(out, "{object}")
            }
            Form::Text => writeln!(
                out,
                "{:<15} {name:<20} {about} ({source}); ranks: {}",
                kind.name(),
                ranks.name()
            ),
        }
    });
    written.map_err(|error| Error::io(out.name(), error))?;
    out.finish()
}
