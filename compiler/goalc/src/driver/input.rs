//! Inputs: files or standard input, packed or not. Their form is recognised by content.

use super::packed::{Packing, too_large};
use super::{Error, Options, mapping, streams};
use goal_asm::{loggopsim, nisa};
use goal_lang::Bytes;
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
    /// True for a binary that is read where it lies in the file
    /// ([`mapped_bytes_min`](Options::mapped_bytes_min)).
    pub is_mapped: bool,
}

/// NISA's first bytes up to its line ends. A transfer may have changed these; the verifier then
/// reports it.
const NISA: &[u8] = nisa::MAGIC.split_at(5).0;

impl Input {
    /// Opens a path; `-` is standard input.
    ///
    /// # Errors
    /// Returns an error if the input can't be read, is a damaged packed file, or has more bytes
    /// than may be held in memory.
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
        let form = form(&mapped);
        if form == Form::Loggopsim && metadata.len() >= options.mapped_bytes_min {
            return Ok(Self { name, bytes: mapped, form, packed: false, is_mapped: true });
        }
        if form != Form::Text {
            // Read again instead of copied from the mapping, whose pages would count as memory too.
            drop(mapped);
            let private = read_bounded(&name, &file, limit)?;
            return Self::from_bytes(name, Arc::new(private), limit);
        }
        Self::from_bytes(name, mapped, limit)
    }

    /// Recognises the form of bytes. Unpacks them first if they are packed with gzip or
    /// zstd, to at most `limit` bytes.
    ///
    /// # Errors
    /// Returns an error if the bytes are a damaged packed file, or unpack to more than `limit`
    /// bytes.
    pub fn from_bytes(name: String, bytes: Bytes, limit: u64) -> Result<Self, Error> {
        let Some(packing) = Packing::of(&bytes) else {
            return Ok(Self { name, form: form(&bytes), bytes, packed: false, is_mapped: false });
        };
        let unpacked = packing.unpack(&name, &bytes, limit)?;
        Ok(Self {
            name,
            form: form(&unpacked),
            bytes: Arc::new(unpacked),
            packed: true,
            is_mapped: false,
        })
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

/// Reads everything that a reader has, if that is at most `limit` bytes.
pub(super) fn read_bounded(name: &str, reader: impl Read, limit: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Error::io(name, error))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(format!("{name}: more than {limit} bytes")));
    }
    Ok(bytes)
}
