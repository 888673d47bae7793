//! Tests of the Wireshark dissector in `tools/wireshark/`: its output for frames that goal-esp
//! writes is compared with the values written and with goal-esp's parsers. The tests need `tshark`;
//! without it, a line says that they are skipped.

mod capture;
mod expected;
mod faults;
mod order;
mod shown;
mod tshark;
