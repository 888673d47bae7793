//! Unpacks inputs that are packed with gzip or zstd.
//!
//! A packed input may come from anybody. A few bytes can unpack to far more than memory holds, so
//! the unpacked bytes are counted against a limit while they are written. A zstd frame also states
//! the window that its decoder must keep. A larger window than [`WINDOW_BYTES_MAX`] is refused
//! before it is allocated. Cut and damaged files give an error, and so does a wrong checksum.

use super::Error;
use flate2::bufread::GzDecoder;
use goal_lang::diag::{Code, Diagnostic};
use ruzstd::decoding::StreamingDecoder;
use std::io::Read;

/// Most bytes of the window of a zstd frame: what `zstd -d` takes without an option.
const WINDOW_BYTES_MAX: u64 = 1 << 27;

/// First bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// First bytes of a zstd frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// A form of packed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
}

impl Packing {
    /// Recognises the form of bytes. Returns `None` if they are not packed.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            _ if bytes.starts_with(&GZIP) => Some(Packing::Gzip),
            _ if bytes.starts_with(&ZSTD) || is_skippable(bytes) => Some(Packing::Zstd),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Packing::Gzip => "gzip",
            Packing::Zstd => "zstd",
        }
    }

    fn code(self) -> Code {
        match self {
            Packing::Gzip => Code::GzipFormat,
            Packing::Zstd => Code::ZstdFormat,
        }
    }

    /// Unpacks all parts of a file: the members of gzip, or the frames of zstd. Zeros may follow
    /// them, as on tapes; gzip accepts these too. Other bytes behind the parts are refused,
    /// although gzip only warns: they may be the damaged rest of a program.
    ///
    /// # Errors
    /// Returns an error if the file is damaged, unpacks to more than `limit` bytes, or holds
    /// another packed file.
    pub(super) fn unpack(self, name: &str, packed: &[u8], limit: u64) -> Result<Vec<u8>, Error> {
        let word = self.name();
        let damaged = |what: String, help: String| {
            Diagnostic::new(self.code(), format!("{name}: the {word} file {what}")).help(help)
        };
        let mut unpacked = Vec::new();
        let mut rest = packed;
        while Packing::of(rest) == Some(self) {
            let done = match self {
                Packing::Gzip => unpack_member(&mut rest, &mut unpacked, limit),
                Packing::Zstd => unpack_frame(&mut rest, &mut unpacked, limit),
            };
            done.map_err(|error| {
                let help = format!("make the file again; `{word} -t` tells whether it is whole");
                let at = packed.len() - rest.len();
                damaged(format!("can't be unpacked: {error} (at byte {at:#x} of the file)"), help)
            })?;
            if unpacked.len() as u64 > limit {
                let what = format!("{name}: the {word} file unpacks to more than {limit} bytes");
                return Err(too_large(what));
            }
        }
        if rest.iter().any(|&byte| byte != 0) {
            let what =
                format!("is followed by {} bytes that are neither {word} nor zeros", rest.len());
            let help = format!(
                "make the file again, or leave them out: `{word} -dc` unpacks what is before them"
            );
            return Err(damaged(what, help).into());
        }
        if let Some(inner) = Packing::of(&unpacked) {
            let what = format!("holds another {} file", inner.name());
            return Err(damaged(what, format!("unpack it once: `{word} -dc`")).into());
        }
        Ok(unpacked)
    }
}

/// Unpacks a member of a gzip file, and one byte more than `limit` at most. Leaves what follows in
/// `rest`.
fn unpack_member(rest: &mut &[u8], unpacked: &mut Vec<u8>, limit: u64) -> Result<(), String> {
    let mut member = GzDecoder::new(*rest);
    let room = limit.saturating_add(1) - unpacked.len() as u64;
    let read = (&mut member).take(room).read_to_end(unpacked);
    *rest = member.into_inner();
    read.map(|_| ()).map_err(|error| error.to_string())
}

/// Unpacks a zstd frame as [`unpack_member`] does a member.
fn unpack_frame(rest: &mut &[u8], unpacked: &mut Vec<u8>, limit: u64) -> Result<(), String> {
    if is_skippable(rest) {
        let bytes = rest.get(4..8).ok_or("a frame breaks off")?;
        let size = u32::from_le_bytes(bytes.try_into().expect("four bytes")) as usize;
        *rest = rest[8..].get(size..).ok_or("a frame breaks off")?;
        return Ok(());
    }
    let mut frame = StreamingDecoder::new_with_max_window_size(&mut *rest, WINDOW_BYTES_MAX)
        .map_err(|error| error.to_string())?;
    let room = limit.saturating_add(1) - unpacked.len() as u64;
    (&mut frame).take(room).read_to_end(unpacked).map_err(|error| error.to_string())?;
    if unpacked.len() as u64 > limit {
        return Ok(());
    }
    let (stated, computed) =
        (frame.decoder.get_checksum_from_data(), frame.decoder.get_calculated_checksum());
    match stated {
        Some(stated) if Some(stated) != computed => {
            Err("its bytes were changed, as their checksum says".to_owned())
        }
        _ => Ok(()),
    }
}

/// Returns true if bytes begin with a frame that decoders of zstd leave out, as pzstd writes them.
fn is_skippable(bytes: &[u8]) -> bool {
    matches!(bytes, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// Returns the error about bytes that would be too many in memory.
pub(super) fn too_large(what: String) -> Error {
    Diagnostic::new(Code::InputLimit, format!("{what}, and they have to be held in memory"))
        .note("pipes, packed and binary inputs are held in memory; plain text files are mapped and may have any size")
        .help("raise the limit with --max-input")
        .into()
}
