//! Defines the types and numbers of PMIx's C interface, as `pmix_common.h` has them.
//!
//! They are valid for the releases in [`MAJORS`] on 64-bit machines of either byte order. The
//! headers of 3.0, 3.1, 3.2, 4.0, 4.2, 5.0 and 6.0 were compared. Release 2 has a shorter
//! `pmix_value_t`, as it lacks `pmix_envar_t`. A test compares sizes and offsets with the headers
//! of the machine.

use std::ffi::{c_char, c_int, c_void};

/// The major releases that have the types of this module.
pub(super) const MAJORS: std::ops::RangeInclusive<u32> = 3..=6;

/// The size in bytes of a namespace: `PMIX_MAX_NSLEN` and a zero byte.
pub(super) const NAMESPACE_SIZE: usize = 256;

/// The size in bytes of a key: `PMIX_MAX_KEYLEN` and a zero byte.
pub(super) const KEY_SIZE: usize = 512;

/// `PMIX_RANK_WILDCARD`, which stands for the job as a whole.
pub(super) const RANK_WILDCARD: u32 = u32::MAX - 1;

/// `PMIX_SUCCESS`.
pub(super) const SUCCESS: c_int = 0;

/// `PMIX_GLOBAL`, the scope of values for ranks of this node and of others.
pub(super) const SCOPE_GLOBAL: u8 = 3;

/// Values of `pmix_data_type_t`.
pub(super) mod kind {
    pub(in super::super) const BOOL: u16 = 1;
    pub(in super::super) const STRING: u16 = 3;
    pub(in super::super) const UINT16: u16 = 13;
    pub(in super::super) const UINT32: u16 = 14;
    pub(in super::super) const BYTE_OBJECT: u16 = 27;
}

/// `pmix_proc_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Proc {
    pub(super) namespace: [c_char; NAMESPACE_SIZE],
    pub(super) rank: u32,
}

/// `pmix_byte_object_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ByteObject {
    pub(super) bytes: *mut c_char,
    pub(super) size: usize,
}

/// `pmix_envar_t`, the largest member of [`Data`].
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Envar {
    name: *mut c_char,
    value: *mut c_char,
    separator: c_char,
}

/// The union in `pmix_value_t`, with the members that this crate uses and the largest member.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union Data {
    pub(super) flag: bool,
    pub(super) uint16: u16,
    pub(super) uint32: u32,
    pub(super) pointer: *mut c_void,
    pub(super) object: ByteObject,
    pub(super) envar: Envar,
}

/// `pmix_value_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Value {
    pub(super) kind: u16,
    pub(super) data: Data,
}

/// `pmix_info_t`.
#[repr(C)]
pub(super) struct Info {
    pub(super) key: [c_char; KEY_SIZE],
    pub(super) flags: u32,
    pub(super) value: Value,
}

/// The type of `PMIx_Get_version`. The following types are those of further functions of the
/// library.
pub(super) type Version = unsafe extern "C" fn() -> *const c_char;
pub(super) type ErrorString = unsafe extern "C" fn(c_int) -> *const c_char;
pub(super) type Init = unsafe extern "C" fn(*mut Proc, *mut Info, usize) -> c_int;
pub(super) type Put = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int;
pub(super) type Commit = unsafe extern "C" fn() -> c_int;
pub(super) type Fence = unsafe extern "C" fn(*const Proc, usize, *const Info, usize) -> c_int;
pub(super) type Get =
    unsafe extern "C" fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> c_int;
pub(super) type Abort = unsafe extern "C" fn(c_int, *const c_char, *mut Proc, usize) -> c_int;
pub(super) type Finalize = unsafe extern "C" fn(*const Info, usize) -> c_int;
