//! Proof that messages travel through the loopback interface: the packets that it has carried.

use crate::mpi::{Calls, Sample};
use std::io;

/// Calls `run`, which performs these operations in one way, and returns its samples.
///
/// # Errors
/// Those of `run`, or the interface has carried fewer packets than there were operations.
pub(super) fn checked(
    calls: &Calls<'_>,
    run: impl FnOnce() -> io::Result<Vec<Sample>>,
) -> io::Result<Vec<Sample>> {
    let before = packets()?;
    let samples = run()?;
    let carried = packets()?.saturating_sub(before);
    // A library may lack the way.
    let Some(Sample { by, .. }) = samples.first() else { return Ok(samples) };
    let operations = calls.operations();
    if carried < operations {
        return Err(io::Error::other(format!(
            "{by} does not use TCP: {operations} operations, and the loopback interface has carried {carried} packets"
        )));
    }
    Ok(samples)
}

/// Returns the number of packets that the loopback interface has received.
fn packets() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/net/dev")?;
    packets_in(&text).ok_or_else(|| io::Error::other("/proc/net/dev has no interface lo"))
}

fn packets_in(text: &str) -> Option<u64> {
    let counts = text.lines().find_map(|line| line.trim_start().strip_prefix("lo:"))?;
    counts.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{checked, packets_in};
    use crate::mpi::{Calls, Manner, Operation, Sample};
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn packets_of_loopback() {
        let text = "Inter-| Receive\n face |bytes packets errs\n eth0: 9 8 0\n    lo: 700 12 0 0\n";
        assert_eq!(packets_in(text), Some(12));
        assert_eq!(packets_in("eth0: 9 8 0\n"), None);
    }

    /// Each of 12 operations needs a packet or more; `checked` must notice that none was sent.
    #[test]
    fn operations_without_packets_are_noticed() {
        let rounds = 10;
        let calls = Calls {
            operation: Operation::Allreduce,
            processors: &[0, 1],
            sizes: &[8],
            rounds,
            manner: Manner::default(),
            table: None,
        };
        let sample = "shared,2,allreduce,8,v4:blocking:alloc,1,1,1,1".parse::<Sample>();
        let samples = vec![sample.expect("a sample")];
        let sent = checked(&calls, || {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let mut one = TcpStream::connect(listener.local_addr()?)?;
            let (mut other, _) = listener.accept()?;
            for _ in 0..calls.operations() {
                one.write_all(&[1])?;
                other.read_exact(&mut [0])?;
            }
            Ok(samples.clone())
        });
        assert_eq!(sent.expect("packets were sent"), samples);
        // Other programs may send as well, but hardly millions within a call that does nothing.
        let calls = Calls { sizes: &[8; 1000], rounds: u32::MAX, ..calls };
        let error = checked(&calls, || Ok(samples)).expect_err("no packets").to_string();
        assert!(error.starts_with("v4:blocking:alloc does not use TCP: "), "{error}");
    }
}
