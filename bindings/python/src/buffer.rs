//! Memory that Python objects export: the buffer protocol.
//!
//! The functions are declared here because PyO3 offers them from Python 3.11 on, when they became a
//! part of the stable interface; CPython exports them with the same layout since 3.3.
//!
//! Threat: an object may state any layout. The bytes are `buf` and `len` of a view that the
//! interpreter finds contiguous. The owner of the view answers for them, as it does to every
//! reader.
#![allow(unsafe_code)] // the interface of CPython

use crate::error::raised;
use crate::life;
use goal::{Datatype, ErrorCode};
use pyo3::ffi::{Py_ssize_t, PyObject};
use pyo3::prelude::*;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

/// `Py_buffer` of CPython.
#[repr(C)]
struct View {
    buf: *mut c_void,
    obj: *mut PyObject,
    len: Py_ssize_t,
    itemsize: Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *const c_char,
    shape: *mut Py_ssize_t,
    strides: *mut Py_ssize_t,
    suboffsets: *mut Py_ssize_t,
    internal: *mut c_void,
}

impl View {
    fn empty() -> Box<Self> {
        Box::new(Self {
            buf: null_mut(),
            obj: null_mut(),
            len: 0,
            itemsize: 1,
            readonly: 1,
            ndim: 0,
            format: null(),
            shape: null_mut(),
            strides: null_mut(),
            suboffsets: null_mut(),
            internal: null_mut(),
        })
    }
}

const WRITABLE: c_int = 0x1;
const FORMAT: c_int = 0x4;
const STRIDES: c_int = 0x10 | 0x8;

unsafe extern "C" {
    fn PyObject_GetBuffer(object: *mut PyObject, view: *mut View, flags: c_int) -> c_int;
    fn PyBuffer_IsContiguous(view: *const View, order: c_char) -> c_int;
    fn PyBuffer_Release(view: *mut View);
}

/// The bytes of an object, exported until this is dropped. Objects should not move or free exported
/// bytes, and most refuse to. Some do it by force, as numpy's `resize(refcheck=False)` and
/// `ctypes.resize`: see [`Export::check`].
pub(crate) struct Export {
    view: Box<View>,
    /// The object itself; `None` once it was given back.
    owner: Option<Py<PyAny>>,
}

// SAFETY: a view is not changed after its creation, and is released in the interpreter only.
unsafe impl Send for Export {}
// SAFETY: as above.
unsafe impl Sync for Export {}

impl Export {
    /// Exports the bytes of an object, which are contiguous, and may be written if `writes`.
    ///
    /// # Errors
    /// It has no such bytes.
    pub(crate) fn new(object: &Bound<'_, PyAny>, writes: bool, name: &str) -> PyResult<Self> {
        let py = object.py();
        let mut view = View::empty();
        let flags = STRIDES | FORMAT | if writes { WRITABLE } else { 0 };
        // SAFETY: the interpreter is attached; the view lies still, and is released with `Self`.
        if unsafe { PyObject_GetBuffer(object.as_ptr(), &raw mut *view, flags) } != 0 {
            let cause = PyErr::fetch(py);
            let kind = object.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string());
            let wanted = if writes { "memory that can be written" } else { "memory" };
            let text = format!(
                "{name} is a {kind} and exports no {wanted}: {}",
                cause.value(py).str().map_or_else(|_| String::new(), |text| text.to_string())
            );
            let error = raised(py, ErrorCode::Buffer, &text);
            error.set_cause(py, Some(cause));
            return Err(error);
        }
        let export = Self { view, owner: Some(object.clone().unbind()) };
        // SAFETY: the view was filled above.
        if unsafe { PyBuffer_IsContiguous(&raw const *export.view, b'C' as c_char) } == 0 {
            let text = format!(
                "{name} is not contiguous in C's order: copy it (numpy.ascontiguousarray) first"
            );
            return Err(raised(py, ErrorCode::Buffer, &text));
        }
        Ok(export)
    }

    /// The address of the first byte.
    pub(crate) fn address(&self) -> usize {
        self.view.buf.expose_provenance()
    }

    /// The number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.view.len.max(0) as usize
    }

    /// Returns an error if the object has moved its bytes since, or has another number of them.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        let Some(owner) = &self.owner else { return Ok(()) };
        let owner = owner.bind(py);
        let (now, mine) = (Fresh::new(owner)?, (self.view.buf, self.view.len));
        if now.place() == mine {
            return Ok(());
        }
        // An object may have other bytes for each export, which all stay where they are.
        let again = Fresh::new(owner)?;
        if again.place() != now.place() {
            return Ok(());
        }
        let kind = owner.get_type().name().map_or_else(|_| "?".into(), |n| n.to_string());
        let text = format!(
            "the {kind} of {} bytes was resized or moved after it became a buffer: compile again, \
             with its new memory",
            self.len()
        );
        Err(raised(py, ErrorCode::Buffer, &text))
    }

    /// Returns true if the two are views of the same bytes of the same object.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let key = |export: &Self| {
            let owner = export.owner.as_ref().map_or(null_mut(), Py::as_ptr);
            (owner, export.view.buf, export.view.len, export.view.readonly)
        };
        key(self) == key(other)
    }

    /// The object.
    pub(crate) fn owner(&self) -> usize {
        self.owner.as_ref().map_or(0, |owner| owner.as_ptr() as usize)
    }

    /// The bytes of an element.
    pub(crate) fn width(&self) -> usize {
        self.view.itemsize.max(1) as usize
    }

    /// The code of the elements' type, as `struct` has it.
    pub(crate) fn format(&self) -> String {
        if self.view.format.is_null() {
            return "B".to_owned();
        }
        // SAFETY: exporters give a string that lives as long as the view.
        unsafe { CStr::from_ptr(self.view.format) }.to_string_lossy().into_owned()
    }
}

/// A short export, within a call of the interpreter.
struct Fresh<'py> {
    view: Box<View>,
    _py: Python<'py>,
}

impl<'py> Fresh<'py> {
    fn new(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut view = View::empty();
        // SAFETY: the interpreter is attached; the view lies still, and is released with `Self`.
        if unsafe { PyObject_GetBuffer(object.as_ptr(), &raw mut *view, STRIDES) } != 0 {
            let cause = PyErr::fetch(object.py());
            let text = format!("a buffer exports no memory any more: {cause}");
            return Err(raised(object.py(), ErrorCode::Buffer, &text));
        }
        Ok(Self { view, _py: object.py() })
    }

    fn place(&self) -> (*mut c_void, Py_ssize_t) {
        (self.view.buf, self.view.len)
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        // SAFETY: the view was filled when it was made, and is released once, in the interpreter.
        unsafe { PyBuffer_Release(&raw mut *self.view) };
    }
}

impl Drop for Export {
    fn drop(&mut self) {
        let (view, owner) = (&raw mut *self.view, self.owner.take());
        let released = life::in_python(|_| {
            // SAFETY: the view was filled when it was made, and is released once.
            unsafe { PyBuffer_Release(view) };
        });
        if released.is_none() {
            // The interpreter ends, and its objects with it.
            std::mem::forget(owner);
        }
    }
}

/// Returns the type of elements with a format of `struct`; `None` if schedules don't compute with
/// it. The second value is true for truth values.
pub(crate) fn datatype(format: &str, width: usize) -> Option<(Datatype, bool)> {
    let (order, code) = match format.as_bytes() {
        [code] => (b'@', *code),
        [order, code] => (*order, *code),
        _ => return None,
    };
    let is_native = matches!(order, b'@' | b'=' | b'^')
        || order == if cfg!(target_endian = "big") { b'>' } else { b'<' };
    if !is_native && width > 1 {
        return None;
    }
    let datatype = match (code, width) {
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 1) => Datatype::Int8,
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 2) => Datatype::Int16,
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 4) => Datatype::Int32,
        (b'b' | b'h' | b'i' | b'l' | b'q' | b'n', 8) => Datatype::Int64,
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N' | b'?', 1) => Datatype::UInt8,
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 2) => Datatype::UInt16,
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 4) => Datatype::UInt32,
        (b'B' | b'H' | b'I' | b'L' | b'Q' | b'N', 8) => Datatype::UInt64,
        (b'f', 4) => Datatype::Float32,
        (b'd', 8) => Datatype::Float64,
        _ => return None,
    };
    Some((datatype, code == b'?'))
}
