//! Inputs: files or standard input, packed or not. Their form is recognised by content.

use super::{Error, Options, mapping, streams};
use flate2::bufread::GzDecoder;
use goal_asm::{loggopsim, nisa};
use goal_lang::Bytes;
use goal_lang::diag::{Code, Diagnostic};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The form of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text in either spelling, and everything that is no other form.
    Text,
    /// A NISA file.
    Nisa,
    /// A LogGOPSim binary.
    Loggopsim,
}

/// One input: plain text is mapped, everything else is held in memory.
pub struct Input {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// The bytes, unpacked.
    pub bytes: Bytes,
    /// The form of the bytes.
    pub form: Form,
    /// True if the bytes were unpacked.
    pub packed: bool,
}

/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// NISA's first bytes up to its line ends. A transfer may have changed these; the verifier then
/// reports it.
const NISA: &[u8] = nisa::MAGIC.split_at(5).0;

impl Input {
    /// Opens a path; `-` is standard input.
    ///
    /// # Errors
    /// Returns an error if the input can't be read, is a damaged gzip file, or has more bytes than
    /// may be held in memory.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        let limit = options.input_bytes_max;
        if path == Path::new("-") {
            let stdin = streams::stdin().map_err(|error| Error::io("<stdin>", error))?;
            let bytes = read_bounded("<stdin>", stdin, limit)?;
            return Self::from_bytes("<stdin>".to_owned(), Arc::new(bytes), limit);
        }
        let name = path.display().to_string();
        let open = || {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            Ok((file, metadata))
        };
        let (file, metadata) = open().map_err(|error| Error::io(&name, error))?;
        if !metadata.is_file() || metadata.len() == 0 {
            let bytes = read_bounded(&name, file, limit)?;
            return Self::from_bytes(name, Arc::new(bytes), limit);
        }
        let mapped = mapping::map(&file).map_err(|error| Error::io(&name, error))?;
        if form(&mapped) != Form::Text {
            // Read again instead of copied from the mapping, whose pages would count as memory too.
            drop(mapped);
            let private = read_bounded(&name, &file, limit)?;
            return Self::from_bytes(name, Arc::new(private), limit);
        }
        Self::from_bytes(name, mapped, limit)
    }

    /// Recognises the form of bytes. Unpacks them first if they are gzip, to at most `limit` bytes.
    ///
    /// # Errors
    /// Returns an error if the bytes are a damaged gzip file, or unpack to more than `limit` bytes.
    pub fn from_bytes(name: String, bytes: Bytes, limit: u64) -> Result<Self, Error> {
        if !bytes.starts_with(&GZIP) {
            return Ok(Self { name, form: form(&bytes), bytes, packed: false });
        }
        let unpacked = unpack(&name, &bytes, limit)?;
        if unpacked.starts_with(&GZIP) {
            let message = format!("{name}: the gzip file holds another gzip file");
            return Err(Diagnostic::new(Code::GzipFormat, message)
                .help("unpack it once: `gzip -dc`")
                .into());
        }
        Ok(Self { name, form: form(&unpacked), bytes: Arc::new(unpacked), packed: true })
    }
}

fn form(bytes: &[u8]) -> Form {
    if bytes.starts_with(NISA) {
        Form::Nisa
    } else if [loggopsim::MAGIC, loggopsim::MAGIC_USED_UP]
        .iter()
        .any(|magic| bytes.starts_with(&magic.to_le_bytes()))
    {
        Form::Loggopsim
    } else {
        Form::Text
    }
}

/// Unpacks all members of a gzip file. Zeros may follow them, as on tapes; gzip accepts these too.
/// Other bytes behind the members are refused, although gzip only warns: they may be the damaged
/// rest of a program.
fn unpack(name: &str, packed: &[u8], limit: u64) -> Result<Vec<u8>, Error> {
    let damaged = |what: String, help: &str| {
        Diagnostic::new(Code::GzipFormat, format!("{name}: the gzip file {what}")).help(help)
    };
    let mut unpacked = Vec::new();
    let mut rest = packed;
    while rest.starts_with(&GZIP) {
        let mut member = GzDecoder::new(rest);
        let room = limit.saturating_add(1) - unpacked.len() as u64;
        (&mut member).take(room).read_to_end(&mut unpacked).map_err(|error| {
            let help = "make the file again; `gzip -t` tells whether it is whole";
            damaged(format!("can't be unpacked: {error}"), help)
        })?;
        if unpacked.len() as u64 > limit {
            return Err(too_large(format!(
                "{name}: the gzip file unpacks to more than {limit} bytes"
            )));
        }
        rest = member.into_inner();
    }
    if rest.iter().any(|&byte| byte != 0) {
        let help = "make the file again, or leave them out: `gzip -dc` unpacks what is before them";
        let what = format!("is followed by {} bytes that are neither gzip nor zeros", rest.len());
        return Err(damaged(what, help).into());
    }
    Ok(unpacked)
}

/// Reads everything that a reader has, if that is at most `limit` bytes.
fn read_bounded(name: &str, reader: impl Read, limit: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Error::io(name, error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(format!("{name}: more than {limit} bytes")));
    }
    Ok(bytes)
}

fn too_large(what: String) -> Error {
    Diagnostic::new(Code::InputLimit, format!("{what}, and they have to be held in memory"))
        .note("pipes, packed and binary inputs are held in memory; plain text files are mapped and may have any size")
        .help("raise the limit with --max-input")
        .into()
}
