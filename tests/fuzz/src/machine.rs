//! The harness for descriptions of machines.

use goal_opt::Machine;

/// Checks any bytes as the file of a machine: one that is read is the same after it was written,
/// and its times leave room for sums. An error is a short line. Returns true if it was accepted.
///
/// # Panics
/// If that does not hold.
pub fn machine(bytes: &[u8]) -> bool {
    match Machine::parse(&String::from_utf8_lossy(bytes)) {
        Ok(machine) => {
            assert_eq!(Machine::parse(&machine.to_string()), Ok(machine));
            let exact = machine.exact();
            let times = [exact.latency_ps, exact.overhead_ps, exact.gap_ps];
            let of_bytes = [exact.gap_per_byte.nano_ns(), exact.overhead_per_byte.nano_ns()];
            assert!(times.iter().chain(&of_bytes).all(|&time| time <= 1 << 60), "{machine}");
            true
        }
        Err(error) => {
            let line = error.to_string();
            assert!(line.len() < 256 && !line.contains(char::is_control), "{line:?}");
            false
        }
    }
}
