//! Tests code that must not compile: each example would access memory that another owner holds.
//!
//! A region over any address is unsafe:
//! ```compile_fail,E0133
//! let region = goal_engine::memory::Region::new(std::ptr::dangling_mut(), 8);
//! ```
//! Cells over any address are unsafe too:
//! ```compile_fail,E0133
//! let cells = goal_engine::memory::Cells::<u64>::new(std::ptr::dangling_mut(), 1);
//! ```
//! References to the bytes of a span are unsafe: two spans may overlap.
//! ```compile_fail,E0133
//! fn both(span: goal_engine::memory::Span) -> (&'static mut [u8], &'static mut [u8]) {
//!     (span.as_mut_slice(), span.as_mut_slice())
//! }
//! ```
//! A transport learns the address of exported bytes, but can't make an import of it:
//! ```compile_fail,E0133
//! use goal_engine::memory::{Imported, Span};
//! fn again(exported: Span) -> Imported<'static> {
//!     Imported::new(exported)
//! }
//! ```
//! An import can't outlive its transport:
//! ```compile_fail,E0515
//! use goal_engine::{memory::Imported, transport::Transport};
//! fn kept<T: Transport>(transport: T) -> Option<Imported<'static>> {
//!     transport.import(0, 0, 8)
//! }
//! ```
//! A storage over memory that it does not own needs a contract:
//! ```compile_fail,E0133
//! fn over(areas: goal_engine::Areas) -> goal_engine::Storage<'static> {
//!     goal_engine::Storage::over(areas, None)
//! }
//! ```
//! While an instance runs, the engine owns its storage:
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
