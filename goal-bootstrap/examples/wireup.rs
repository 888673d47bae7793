//! Prints the launcher that started this process and exchanges blobs between the ranks.
//!
//! `mpirun -n 4 wireup 3 4096` exchanges three times blobs of 4096 bytes, and checks every byte.
//! `wireup abort` lets rank 0 end the job; `wireup detect` opens no session.

use goal_bootstrap::{Error, Exchange, Launcher, Session};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const WAIT: Duration = Duration::from_secs(30);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("wireup: {text}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let shown = |error: Error| error.to_string();
    let launcher = Launcher::of_process().map_err(shown)?.ok_or("no launcher started it")?;
    let exchange = match launcher.exchange() {
        Exchange::Pmi { .. } => "PMI-1",
        Exchange::Pmix { .. } => "PMIx",
        _ => "nothing",
    };
    let (rank, kind) = (launcher.rank(), launcher.kind().name());
    let first = arguments.first().map_or("1", String::as_str);
    if first == "detect" {
        println!("rank {rank} of {:?}, by {kind}, blobs by {exchange}", launcher.size());
        return Ok(());
    }
    let is_abort = first == "abort";
    let rounds: u32 = if is_abort { 1 } else { first.parse().map_err(|_| "rounds: a number")? };
    let bytes = arguments.get(1).map_or(Ok(16), |text| text.parse::<usize>());
    let bytes = bytes.map_err(|_| "bytes: a number")?;

    let start = Instant::now();
    let mut session = Session::open(&launcher, WAIT).map_err(shown)?;
    let opened = start.elapsed();
    let start = Instant::now();
    for round in 0..rounds {
        let blobs = session.allgather(&blob(rank, round, bytes), WAIT).map_err(shown)?;
        let expected = (0..session.size()).map(|rank| blob(rank, round, bytes));
        if !blobs.into_iter().eq(expected) {
            return Err(format!("rank {rank}: round {round} brought other bytes"));
        }
    }
    let exchanged = start.elapsed() / rounds.max(1);
    if is_abort {
        if rank == 0 {
            session.abort(3, "it was told to abort");
        }
        // Only an abort ends this wait.
        std::thread::sleep(Duration::from_secs(60));
        return Err(format!("rank {rank} was not ended"));
    }
    // One call, so that lines of different ranks do not mix.
    println!(
        "rank {rank} of {}, {}/{} on its node, by {kind}, job {}: {rounds} rounds of {bytes} bytes by \
         {exchange}; opened in {opened:.1?}, a round in {exchanged:.1?}",
        session.size(),
        session.local_rank().map_or("?".to_owned(), |rank| rank.to_string()),
        session.local_size().map_or("?".to_owned(), |size| size.to_string()),
        session.job(),
    );
    session.finalize(WAIT).map_err(shown)
}

/// Makes the blob of a rank: bytes that differ between ranks and rounds.
fn blob(rank: u32, round: u32, bytes: usize) -> Vec<u8> {
    let seed = u64::from(rank) << 32 | u64::from(round);
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.u8(..)).take(bytes).collect()
}
