//! Makes the functions of a PMIx library safe to call.
//!
//! Threat: the library runs in this process with all its rights. The user or the launcher chose the
//! library, as they chose the program itself. `search.rs` states where it is searched for. Its
//! release is checked before any type of its interface is used. The values that it returns come
//! from other ranks. They are copied up to a limit, and freed at once.
#![allow(unsafe_code)] // loads a C library and calls its functions

#[cfg(test)]
mod tests;

use super::abi::{self, ByteObject, Data, Info, Proc, Value, kind};
use crate::limits::BLOB_MAX;
use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};
use std::ffi::{CStr, CString, OsStr, c_char, c_int};
use std::mem::ManuallyDrop;
use std::ptr;

/// The size in bytes of the largest value that is copied: a blob with a byte in front.
const VALUE_MAX: usize = BLOB_MAX + 1;

/// A status of PMIx that is not success.
pub(super) type Status = c_int;

/// The value of a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Number(u32),
    Bytes(Vec<u8>),
    /// A value of a type that this crate does not use, or a value that is too large.
    Other,
}

/// A loaded PMIx library, whose release was checked.
#[derive(Debug)]
pub(super) struct Library {
    error_string: abi::ErrorString,
    init: abi::Init,
    put: abi::Put,
    commit: abi::Commit,
    fence: abi::Fence,
    get: abi::Get,
    abort: abi::Abort,
    finalize: abi::Finalize,
}

impl Library {
    /// Loads the library `name`, and checks its release. The library stays loaded until the process
    /// ends, because it starts threads.
    ///
    /// # Errors
    /// The cause: the loader's error, a missing function, or an unknown release.
    pub(super) fn load(name: &OsStr) -> Result<Self, String> {
        // SAFETY: the library's constructors run. The user or the launcher chose the file, as the
        // program itself.
        let loaded = unsafe { Loaded::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
        let loaded = ManuallyDrop::new(loaded.map_err(|error| cause(&error))?);
        macro_rules! function {
            ($type:ty, $name:literal) => {
                // SAFETY: the function has this type in each release in `MAJORS`. The version
                // function, which is called before the release is known, has had it ever since.
                unsafe { *loaded.get::<$type>($name).map_err(|error| cause(&error))? }
            };
        }
        let version = function!(abi::Version, b"PMIx_Get_version\0");
        // SAFETY: the function takes nothing and may be called at any time.
        let text = text_of(unsafe { version() }).unwrap_or_default();
        match major(&text) {
            Some(major) if abi::MAJORS.contains(&major) => {}
            _ => {
                return Err(format!("its release is not one of 3 to 6: `{}`", text.escape_debug()));
            }
        }
        Ok(Self {
            error_string: function!(abi::ErrorString, b"PMIx_Error_string\0"),
            init: function!(abi::Init, b"PMIx_Init\0"),
            put: function!(abi::Put, b"PMIx_Put\0"),
            commit: function!(abi::Commit, b"PMIx_Commit\0"),
            fence: function!(abi::Fence, b"PMIx_Fence\0"),
            get: function!(abi::Get, b"PMIx_Get\0"),
            abort: function!(abi::Abort, b"PMIx_Abort\0"),
            finalize: function!(abi::Finalize, b"PMIx_Finalize\0"),
        })
    }

    /// Returns the library's text for a status.
    pub(super) fn text(&self, status: Status) -> String {
        // SAFETY: the function takes any number, and returns a text that is never freed, or null.
        text_of(unsafe { (self.error_string)(status) }).unwrap_or_default()
    }

    /// Connects to the PMIx server of this node. Returns the namespace and the rank of this
    /// process.
    pub(super) fn init(&self) -> Result<(String, u32), Status> {
        let mut process = process("", 0);
        // SAFETY: the pointer leads to a process that lives until the call returns; no directives
        // are passed.
        check(unsafe { (self.init)(&raw mut process, ptr::null_mut(), 0) })?;
        let bytes = process.namespace.map(|byte| byte.cast_unsigned());
        let name = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        Ok((name.to_string_lossy().into_owned(), process.rank))
    }

    /// Puts bytes for other ranks under a key. [`Library::commit`] then sends them.
    pub(super) fn put(&self, key: &CStr, bytes: &[u8]) -> Result<(), Status> {
        let object = ByteObject { bytes: bytes.as_ptr().cast_mut().cast(), size: bytes.len() };
        let mut value = Value { kind: kind::BYTE_OBJECT, data: Data { object } };
        // SAFETY: the library copies the value and does not write to it. Key and bytes live until
        // the call returns.
        check(unsafe { (self.put)(abi::SCOPE_GLOBAL, key.as_ptr(), &raw mut value) })
    }

    /// Sends the values that were put to the server.
    pub(super) fn commit(&self) -> Result<(), Status> {
        // SAFETY: the function takes nothing.
        check(unsafe { (self.commit)() })
    }

    /// Waits until all ranks of the job have called this, and collects the values that they have
    /// committed.
    pub(super) fn fence(&self) -> Result<(), Status> {
        let info = Info {
            key: field(b"pmix.collect"),
            flags: 0,
            value: Value { kind: kind::BOOL, data: Data { flag: true } },
        };
        // SAFETY: no list of processes means all of the job. The directive lives until the call
        // returns.
        check(unsafe { (self.fence)(ptr::null(), 0, &raw const info, 1) })
    }

    /// Reads the value of `key` of `rank`, which the rank or the server has put. If `rank` is
    /// [`abi::RANK_WILDCARD`], reads a value of the job.
    pub(super) fn get(&self, namespace: &str, rank: u32, key: &CStr) -> Result<Content, Status> {
        let of = process(namespace, rank);
        let mut value: *mut Value = ptr::null_mut();
        // SAFETY: process, key and place of the result live until the call returns; no directives
        // are passed.
        let status =
            unsafe { (self.get)(&raw const of, key.as_ptr(), ptr::null(), 0, &raw mut value) };
        check(status)?;
        // SAFETY: with success, the library hands over a value from malloc, or null.
        Ok(unsafe { take(value) })
    }

    /// Asks the launcher to end all ranks of the job.
    pub(super) fn abort(&self, status: c_int, text: &CStr) -> Result<(), Status> {
        // SAFETY: the text lives until the call returns. No list of processes means all of the job.
        check(unsafe { (self.abort)(status, text.as_ptr(), ptr::null_mut(), 0) })
    }

    /// Disconnects from the PMIx server.
    pub(super) fn finalize(&self) -> Result<(), Status> {
        // SAFETY: no directives are passed.
        check(unsafe { (self.finalize)(ptr::null(), 0) })
    }
}

fn check(status: c_int) -> Result<(), Status> {
    if status == abi::SUCCESS { Ok(()) } else { Err(status) }
}

/// Returns the text of the system's loader, which is the source of the error.
fn cause(error: &libloading::Error) -> String {
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), ToString::to_string)
}

/// Returns a copy of the content of a value, and frees the value.
///
/// # Safety
/// `value` is null, or a value from malloc that nobody else uses. Its type names a valid member of
/// its data. If that member is a pointer, it leads to memory from malloc too.
unsafe fn take(value: *mut Value) -> Content {
    if value.is_null() {
        return Content::Other;
    }
    // SAFETY: by the caller's promise the pointer leads to a value, the type names the member, and
    // the pointer of a byte object leads to as many bytes as its size states. Both blocks are from
    // malloc, and freed once. What other types point to is left.
    unsafe {
        let Value { kind, data } = *value;
        libc::free(value.cast());
        match kind {
            kind::UINT16 => Content::Number(u32::from(data.uint16)),
            kind::UINT32 => Content::Number(data.uint32),
            kind::STRING => {
                libc::free(data.pointer.cast());
                Content::Other
            }
            kind::BYTE_OBJECT => {
                let ByteObject { bytes, size } = data.object;
                let content = match size {
                    _ if bytes.is_null() => Content::Bytes(Vec::new()),
                    0..=VALUE_MAX => {
                        Content::Bytes(std::slice::from_raw_parts(bytes.cast(), size).to_vec())
                    }
                    _ => Content::Other,
                };
                libc::free(bytes.cast());
                content
            }
            _ => Content::Other,
        }
    }
}

/// Returns a copy of a text of the library; `None` if the pointer is null.
fn text_of(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the library's texts end with a zero byte and are never freed.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// Returns the `pmix_proc_t` of a rank. A namespace that is too long for the field is cut.
fn process(namespace: &str, rank: u32) -> Proc {
    Proc { namespace: field(namespace.as_bytes()), rank }
}

/// Returns a text in a field of fixed size, followed by at least one zero byte.
fn field<const SIZE: usize>(text: &[u8]) -> [c_char; SIZE] {
    let mut field = [0; SIZE];
    for (place, &byte) in field[..SIZE - 1].iter_mut().zip(text) {
        *place = byte.cast_signed();
    }
    field
}

/// Returns a text as a string of C. Zero bytes in the text are removed.
pub(super) fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).expect("zero bytes were taken out")
}

/// Returns the major release in the library's text, such as `OpenPMIx 4.2.2, repo rev: ...`. It is
/// the number before the first dot; `None` if there is none.
pub(super) fn major(text: &str) -> Option<u32> {
    let (before, _) = text.split_once('.')?;
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}
