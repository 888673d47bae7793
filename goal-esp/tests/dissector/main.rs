//! What Wireshark shows of frames through the dissector in `contrib/wireshark/`, beside what
//! goal-esp wrote into them and what its own parsers say of them. Needs `tshark`, and says so where
//! it is missing.

mod capture;
mod expected;
mod faults;
mod order;
mod shown;
mod tshark;
