//! Code that must not compile: each would reach memory that somebody else has.
//!
//! A region over any address is unsafe:
//! ```compile_fail,E0133
//! let region = goal_engine::memory::Region::new(std::ptr::dangling_mut(), 8);
//! ```
//! So are numbers at any address:
//! ```compile_fail,E0133
//! let cells = goal_engine::memory::Cells::<u64>::new(std::ptr::dangling_mut(), 1);
//! ```
//! References to the bytes of a span are unsafe: two spans may overlap.
//! ```compile_fail,E0133
//! fn both(span: goal_engine::memory::Span) -> (&'static mut [u8], &'static mut [u8]) {
//!     (span.as_mut_slice(), span.as_mut_slice())
//! }
//! ```
//! The address of an export, which a transport learns, is no import:
//! ```compile_fail,E0133
//! use goal_engine::memory::{Imported, Span};
//! fn again(exported: Span) -> Imported<'static> {
//!     Imported::new(exported)
//! }
//! ```
//! An import is not kept for longer than the transport that it is from:
//! ```compile_fail,E0515
//! use goal_engine::{memory::Imported, transport::Transport};
//! fn kept<T: Transport>(transport: T) -> Option<Imported<'static>> {
//!     transport.import(0, 0, 8)
//! }
//! ```
//! Memory of somebody else becomes a storage by a contract only:
//! ```compile_fail,E0133
//! fn over(areas: goal_engine::Areas) -> goal_engine::Storage<'static> {
//!     goal_engine::Storage::over(areas, None)
//! }
//! ```
//! An engine has the storage of what it runs:
//! ```compile_fail,E0382
//! use goal_engine::{Engine, Schedule, Storage, transport::Transport};
//! fn look<T: Transport>(engine: &mut Engine<'static, T>, schedule: &std::sync::Arc<Schedule>) {
//!     let mut storage = Storage::new(schedule);
//!     engine.start(schedule, 0, storage);
//!     storage.memory_mut()[0] = 1;
//! }
//! ```
//! A handle ends one instance, once:
//! ```compile_fail,E0382
//! use goal_engine::{Engine, Handle, transport::Transport};
//! fn twice<T: Transport>(engine: &mut Engine<'static, T>, handle: Handle) {
//!     engine.finish(handle);
//!     engine.finish(handle);
//! }
//! ```
//! An engine over the state of another one needs a contract:
//! ```compile_fail,E0133
//! use goal_engine::{Engine, Options, memory::Region, transport::InMemory};
//! fn second(transport: InMemory, state: Region) -> Engine<'static, InMemory> {
//!     Engine::attach(0, transport, Options::default(), state)
//! }
//! ```
