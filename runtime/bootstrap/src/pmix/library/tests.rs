//! Values as the library hands them out: copied up to a limit, whatever they are.
#![allow(unsafe_code)] // makes values from malloc

use super::super::abi::{ByteObject, Data, Value, kind};
use super::{Content, VALUE_MAX, c_text, field, take};
use std::ptr;

/// Returns a copy of bytes from malloc.
fn allocated(bytes: &[u8]) -> *mut u8 {
    // SAFETY: malloc returns room for so many bytes, or null, which ends the test.
    unsafe {
        let place: *mut u8 = libc::malloc(bytes.len().max(1)).cast();
        assert!(!place.is_null());
        ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
        place
    }
}

/// Takes a value of a type and data.
fn taken(kind: u16, data: Data) -> Content {
    // SAFETY: the value is from malloc, its type names the member that `data` was made with, and
    // what that points to is from malloc.
    unsafe {
        let value: *mut Value = libc::malloc(size_of::<Value>()).cast();
        assert!(!value.is_null());
        value.write(Value { kind, data });
        take(value)
    }
}

#[test]
fn values_are_copied_up_to_the_limit() {
    assert_eq!(taken(kind::UINT32, Data { uint32: 7 }), Content::Number(7));
    assert_eq!(taken(kind::UINT16, Data { uint16: 65_535 }), Content::Number(65_535));
    for size in [0, 1, 4096, VALUE_MAX, VALUE_MAX + 1] {
        let bytes = vec![9; size];
        let object = ByteObject { bytes: allocated(&bytes).cast(), size };
        let content = if size > VALUE_MAX { Content::Other } else { Content::Bytes(bytes) };
        assert_eq!(taken(kind::BYTE_OBJECT, Data { object }), content);
    }
    let object = ByteObject { bytes: ptr::null_mut(), size: 100 };
    assert_eq!(taken(kind::BYTE_OBJECT, Data { object }), Content::Bytes(Vec::new()));
    let pointer = allocated(b"text\0").cast();
    assert_eq!(taken(kind::STRING, Data { pointer }), Content::Other);
    // SAFETY: null is allowed.
    assert_eq!(unsafe { take(ptr::null_mut()) }, Content::Other);
}

#[test]
fn texts_fit_their_fields() {
    assert_eq!(field::<4>(b"ab"), [97, 98, 0, 0]);
    assert_eq!(field::<4>(b"abcdef"), [97, 98, 99, 0]);
    assert_eq!(c_text("a\0b").as_bytes(), b"ab");
}
