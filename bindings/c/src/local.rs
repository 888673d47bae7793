//! Defines the functions that add local operations to a graph (ESPGOAL 2.2.3).
#![allow(unsafe_code)] // exported names, arrays of the caller

use crate::arguments::{count, piece, pieces};
use crate::graph::add;
use crate::types::{
    GOAL_DataType, GOAL_Graph, GOAL_MemType, GOAL_Op, GOAL_Vertex, WTIME, element, operation,
};
use goal::raw::Data;
use goal::{Error, ErrorCode};
use goal_lang::Op;
use std::ffi::{c_int, c_void};

#[unsafe(no_mangle)]
extern "C" fn GOAL_LocalOp(
    graph: GOAL_Graph,
    b1: *const c_void,
    b2: *const c_void,
    bres: *mut c_void,
    op: GOAL_Op,
    dt: GOAL_DataType,
    element_width: c_int,
    num_elements: c_int,
    b1_mem: GOAL_MemType,
    b2_mem: GOAL_MemType,
    b3_mem: GOAL_MemType,
) -> GOAL_Vertex {
    add("GOAL_LocalOp", graph, |graph| {
        if op == WTIME {
            return graph.wtime(piece(bres, 8, b3_mem, "b3_mem")?);
        }
        let element = element(dt, element_width)?;
        let op = operation(op, element)?;
        let bytes = u64::from(count(num_elements, "num_elements")?) * element.datatype.width();
        let a = piece(b1, bytes, b1_mem, "b1_mem")?;
        let result = piece(bres, bytes, b3_mem, "b3_mem")?;
        let b = if op == Op::Copy { result } else { piece(b2, bytes, b2_mem, "b2_mem")? };
        graph.local_op(op, element.datatype, Data::One(a), Data::One(b), Data::One(result))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_LocalOpVec(
    graph: GOAL_Graph,
    buf1: *mut *mut c_void,
    lengths1: *mut c_int,
    num_elements1: c_int,
    buf2: *mut *mut c_void,
    lengths2: *mut c_int,
    num_elements2: c_int,
    buf3: *mut *mut c_void,
    lengths3: *mut c_int,
    num_elements3: c_int,
    datatype: GOAL_DataType,
    datatype_width: c_int,
    op: GOAL_Op,
    b1_temp: GOAL_MemType,
    b2_temp: GOAL_MemType,
    b3_temp: GOAL_MemType,
) -> GOAL_Vertex {
    add("GOAL_LocalOpVec", graph, |graph| {
        let names = ["buf3", "lengths3", "num_elements3", "b3_temp"];
        // SAFETY: the caller passes arrays of `num_elements3` elements.
        let result = unsafe { pieces((buf3, lengths3, num_elements3), b3_temp, names)? };
        if op == WTIME {
            let [whole] = result[..] else {
                let text = "GOAL_WTIME stores into one piece of 8 bytes";
                return Err(Error::new(ErrorCode::Buffer, text));
            };
            return graph.wtime(whole);
        }
        let element = element(datatype, datatype_width)?;
        let op = operation(op, element)?;
        let names = ["buf1", "lengths1", "num_elements1", "b1_temp"];
        // SAFETY: the caller passes arrays of `num_elements1` elements.
        let a = unsafe { pieces((buf1, lengths1, num_elements1), b1_temp, names)? };
        let b = if op == Op::Copy {
            result.clone()
        } else {
            let names = ["buf2", "lengths2", "num_elements2", "b2_temp"];
            // SAFETY: the caller passes arrays of `num_elements2` elements.
            unsafe { pieces((buf2, lengths2, num_elements2), b2_temp, names)? }
        };
        let (a, b, result) = (Data::Many(&a), Data::Many(&b), Data::Many(&result));
        graph.local_op(op, element.datatype, a, b, result)
    })
}
