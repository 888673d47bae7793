//! Datagrams and reliable streams between ranks, directly on switched Ethernet: EDP and ESP, the
//! Ethernet Datagram and Stream Protocols. They follow the thesis *ESPGOAL* (2011), chapters 3 and
//! 4.2.
//!
//! The crate is the protocol and nothing else. It does no IO, reads no clock, draws no random
//! numbers and starts no threads. The caller passes in frames, the time and a random seed, and
//! takes out frames and events. So the same state machines run on a network card, in a simulation
//! from a seed, and in a model checker. The checker tries every order of loss, duplication and
//! reordering. The crate encrypts nothing, routes nothing, and does not interpret the messages that
//! it carries.
//!
//! Start at [`endpoint::Endpoint`], one rank's end of all its streams. A stream carries the chunks
//! of [`goal_fabric::message`]. [`datagram`] sends single datagrams. [`wire`] has the bytes of each
//! format. [`sim`] and [`harness`] are for tests. `docs/esp.md` describes the protocol and the
//! decisions behind it.
//!
//! # Example
//!
//! Two endpoints, whose frames are carried by hand, and one message:
//!
//! ```
//! use goal_esp::auth::{Address, JobKey};
//! use goal_esp::endpoint::{Config, Endpoint, Event, FRAME_LEN_MAX};
//! use goal_esp::wire::Mac;
//!
//! let addresses = [1, 2].map(|n| Address { mac: Mac([2, 0, 0, 0, 0, n]), port: n.into() });
//! let payload_max = Config::payload_max_of(1500).expect("an MTU of 1500 is long enough");
//! // In a real job, the secret and the seeds are random.
//! let mut ends = addresses.map(|address| {
//!     let config = Config::new(address, JobKey::new(&[7; 32]), payload_max);
//!     Endpoint::new(config, [address.port as u8; 32])
//! });
//!
//! let mut now_ns = 0;
//! let id = ends[0].connect(now_ns, addresses[1]).expect("there is one peer");
//! let mut received = None;
//! while received.is_none() {
//!     now_ns += 1_000;
//!     for from in [0, 1] {
//!         ends[from].handle_timeout(now_ns);
//!         let mut frame = [0; FRAME_LEN_MAX];
//!         while let Some(len) = ends[from].poll_transmit(now_ns, &mut frame) {
//!             ends[1 - from].handle_frame(now_ns, &frame[..len]);
//!         }
//!         while let Some(event) = ends[from].poll_event() {
//!             match event {
//!                 Event::Connected { .. } if from == 0 => {
//!                     ends[0].push(id, b"hello".to_vec(), true).expect("the queue is empty");
//!                 }
//!                 Event::Readable(id) => received = ends[from].read(now_ns, id),
//!                 _ => {}
//!             }
//!         }
//!     }
//! }
//! assert_eq!(received.as_deref(), Some(&b"hello"[..]));
//! ```
//!
//! # Layers
//! A module imports only from modules of earlier lines:
//!
//! - `limits`, `seq`
//! - `wire`
//! - `auth`, `transfer`
//! - `machine`, `datagram`
//! - `endpoint`
//! - `sim`, `harness`

pub mod auth;
pub mod datagram;
pub mod endpoint;
pub mod harness;
pub mod limits;
mod machine;
mod seq;
pub mod sim;
mod transfer;
pub mod wire;
