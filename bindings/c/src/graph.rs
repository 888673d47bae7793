//! Defines the functions of graphs: creation, messages and dependencies (ESPGOAL 2.2.2 to 2.2.5).
#![allow(unsafe_code)] // exported names, arrays of the caller

use crate::arguments::{count, piece, pieces, rank};
use crate::border::{border, group, status};
use crate::communicator::communicator;
use crate::table::{Kind, Table};
use crate::types::{GOAL_Comm, GOAL_Graph, GOAL_MemType, GOAL_Vertex};
use goal::raw::{Data, Graph, Vertex, tidy};
use goal::{Communicator, Error, ErrorCode, Result};
use goal_lang::ANY;
use parking_lot::Mutex;
use std::ffi::{c_int, c_void};

/// A graph that the program has created.
pub(crate) struct Entry {
    pub(crate) graph: Graph,
    /// The top bit in the numbers of this graph's vertices. The numbers of vertices in C lack this
    /// bit, because they are not negative.
    sign: u64,
}

pub(crate) static GRAPHS: Table<Mutex<Entry>> = Table::new(Kind::Graph);

const SIGN: u64 = 1 << 63;

impl Entry {
    /// Returns the number of a new vertex for C.
    pub(crate) fn number(&mut self, vertex: Vertex) -> GOAL_Vertex {
        let number = vertex.to_number();
        self.sign = number & SIGN;
        GOAL_Vertex((number & !SIGN) as i64 - 1)
    }

    fn vertex(&self, GOAL_Vertex(number): GOAL_Vertex, argument: &str) -> Result<Vertex> {
        let known = u64::try_from(number).ok();
        known.and_then(|number| Vertex::from_number((number + 1) | self.sign)).ok_or_else(|| {
            let text = format!("{argument} is no vertex (GOAL_INVALID_VERTEX is none)");
            Error::new(ErrorCode::Vertex, text)
        })
    }
}

pub(crate) fn create(communicator: &Communicator) -> Result<GOAL_Graph> {
    let entry = Entry { graph: Graph::new(communicator), sign: 0 };
    Ok(GOAL_Graph(GRAPHS.add(Mutex::new(entry))?))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_CreateGraph() -> GOAL_Graph {
    border("GOAL_CreateGraph", || create(group()?.world()))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_CreateGraphOn(comm: GOAL_Comm) -> GOAL_Graph {
    border("GOAL_CreateGraphOn", || create(&*communicator(comm)?))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_FreeGraph(graph: GOAL_Graph) -> c_int {
    status("GOAL_FreeGraph", || {
        GRAPHS.remove(graph.0, |_| None)?;
        tidy();
        Ok(())
    })
}

/// Adds an action to a graph by a call of `add`, in the C function `call`. Returns the action's
/// vertex.
pub(crate) fn add(
    call: &'static str,
    graph: GOAL_Graph,
    add: impl FnOnce(&mut Graph) -> Result<Vertex>,
) -> GOAL_Vertex {
    border(call, || {
        let entry = GRAPHS.get(graph.0)?;
        let mut entry = entry.lock();
        let vertex = add(&mut entry.graph)?;
        Ok(entry.number(vertex))
    })
}

/// Calls `change` with the graph that a handle names.
pub(crate) fn change<T>(
    graph: GOAL_Graph,
    change: impl FnOnce(&mut Entry) -> Result<T>,
) -> Result<T> {
    let entry = GRAPHS.get(graph.0)?;
    let mut entry = entry.lock();
    change(&mut entry)
}

fn tag_of_send(tag: c_int) -> Result<u32> {
    u32::try_from(tag)
        .map_err(|_| Error::new(ErrorCode::Tag, format!("tag is {tag}, and can't be negative")))
}

/// Returns the source and the tag of a receive. Either may be -1, which stands for any.
fn source(source: c_int, tag: c_int) -> Result<(u32, u32)> {
    let from = if source == -1 { ANY } else { rank(source, "source")? };
    Ok((from, if tag == -1 { ANY } else { tag_of_send(tag)? }))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Send(
    graph: GOAL_Graph,
    buf: *const c_void,
    size: c_int,
    dest: c_int,
    tag: c_int,
    mem: GOAL_MemType,
) -> GOAL_Vertex {
    add("GOAL_Send", graph, |graph| {
        let piece = piece(buf, count(size, "count")?.into(), mem, "mem")?;
        graph.send(Data::One(piece), rank(dest, "dest")?, tag_of_send(tag)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Recv(
    graph: GOAL_Graph,
    buf: *mut c_void,
    size: c_int,
    from: c_int,
    tag: c_int,
    mem: GOAL_MemType,
) -> GOAL_Vertex {
    add("GOAL_Recv", graph, |graph| {
        let piece = piece(buf, count(size, "count")?.into(), mem, "mem")?;
        let (from, tag) = source(from, tag)?;
        graph.recv(Data::One(piece), from, tag)
    })
}

/// The names of the arguments of a scattered buffer, for errors.
const VECTOR: [&str; 4] = ["offsets", "lengths", "num_elements", "mem"];

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_SendVec(
    graph: GOAL_Graph,
    offsets: *mut *mut c_void,
    lengths: *mut c_int,
    num_elements: c_int,
    dest: c_int,
    tag: c_int,
    mem: GOAL_MemType,
) -> GOAL_Vertex {
    add("GOAL_SendVec", graph, |graph| {
        // SAFETY: the caller passes arrays of `num_elements` elements.
        let pieces = unsafe { pieces((offsets, lengths, num_elements), mem, VECTOR)? };
        graph.send(Data::Many(&pieces), rank(dest, "dest")?, tag_of_send(tag)?)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn GOAL_RecvVec(
    graph: GOAL_Graph,
    offsets: *mut *mut c_void,
    lengths: *mut c_int,
    num_elements: c_int,
    src: c_int,
    tag: c_int,
    mem: GOAL_MemType,
) -> GOAL_Vertex {
    add("GOAL_RecvVec", graph, |graph| {
        // SAFETY: the caller passes arrays of `num_elements` elements.
        let pieces = unsafe { pieces((offsets, lengths, num_elements), mem, VECTOR)? };
        let (from, tag) = source(src, tag)?;
        graph.recv(Data::Many(&pieces), from, tag)
    })
}

/// Adds a dependency to a graph by a call of `add`. Each vertex comes with the name of its
/// argument, for errors.
fn depend(
    graph: GOAL_Graph,
    [prerequisite, target]: [(GOAL_Vertex, &str); 2],
    add: impl FnOnce(&mut Graph, Vertex, Vertex) -> Result<()>,
) -> Result<()> {
    change(graph, |entry| {
        let prerequisite = entry.vertex(prerequisite.0, prerequisite.1)?;
        let target = entry.vertex(target.0, target.1)?;
        add(&mut entry.graph, prerequisite, target)
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Requires(graph: GOAL_Graph, prereq: GOAL_Vertex, target: GOAL_Vertex) -> c_int {
    let both = [(prereq, "prereq"), (target, "target")];
    status("GOAL_Requires", || depend(graph, both, Graph::requires))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_IRequires(graph: GOAL_Graph, prereq: GOAL_Vertex, target: GOAL_Vertex) -> c_int {
    let both = [(prereq, "prereq"), (target, "target")];
    status("GOAL_IRequires", || depend(graph, both, Graph::requires_start))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Requ(graph: GOAL_Graph, a: GOAL_Vertex, b: GOAL_Vertex) -> c_int {
    status("GOAL_Requ", || depend(graph, [(b, "b"), (a, "a")], Graph::requires))
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_AllocateScratchpad(graph: GOAL_Graph, bytes: usize) -> c_int {
    status("GOAL_AllocateScratchpad", || {
        change(graph, |entry| {
            entry.graph.allocate_scratch(bytes as u64);
            Ok(())
        })
    })
}

#[unsafe(no_mangle)]
extern "C" fn GOAL_Declare(graph: GOAL_Graph, buf: *mut c_void, bytes: usize) -> c_int {
    border("GOAL_Declare", || {
        let address = buf.expose_provenance();
        if address == 0 && bytes > 0 {
            return Err(Error::new(
                ErrorCode::Buffer,
                format!("buf is NULL and has {bytes} bytes"),
            ));
        }
        change(graph, |entry| Ok(entry.graph.declare(address, bytes as u64)? as c_int))
    })
}
