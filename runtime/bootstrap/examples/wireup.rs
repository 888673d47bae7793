//! Prints the launcher that started this process and exchanges blobs between the ranks.
//!
//! - `mpirun -n 4 wireup 3 1 4096` exchanges three times blobs of each size, and checks every byte.
//! - `wireup detect` opens no session.
//! - `wireup drop` ends without a call of `finalize`.
//! - `wireup leave` ends while the session is open.
//! - `wireup abort` lets rank 0 end the job.
//! - `wireup late` lets the last rank miss an exchange, and the others meet their deadlines.

use goal_bootstrap::{Error, Exchange, Launcher, Session};
use std::process::ExitCode;
use std::thread::sleep;
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
    let launcher = Launcher::from_process().map_err(shown)?.ok_or("no launcher started it")?;
    let mode = arguments.first().map_or("1", String::as_str);
    if mode == "detect" {
        let (rank, size) = (launcher.rank(), number(launcher.size()));
        println!("rank {rank} of {size}, by {}", launcher.kind().name());
        return Ok(());
    }
    let start = Instant::now();
    let mut session = Session::open(&launcher, WAIT).map_err(shown)?;
    let opened = start.elapsed();
    match mode {
        "drop" => rounds(&mut session, 1, &[1]).map(drop),
        "leave" => {
            rounds(&mut session, 1, &[1])?;
            std::process::exit(0)
        }
        "abort" => abort(session),
        "late" => late(session),
        _ => {
            let count = mode.parse().map_err(|_| format!("`{mode}` is no number of rounds"))?;
            let sizes = arguments.iter().skip(1).map(|text| text.parse::<usize>());
            let sizes = sizes.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
            let time = rounds(&mut session, count, if sizes.is_empty() { &[16] } else { &sizes })?;
            report(&launcher, &session, opened, time);
            session.finalize(WAIT).map_err(shown)
        }
    }
}

/// Exchanges blobs and checks them. Returns the time of an exchange.
fn rounds(session: &mut Session, count: u32, sizes: &[usize]) -> Result<Duration, String> {
    let start = Instant::now();
    let rank = session.rank();
    for round in 0..count {
        for &bytes in sizes {
            let blobs = session.allgather(&blob(rank, round, bytes), WAIT).map_err(shown)?;
            let expected = (0..session.size()).map(|rank| blob(rank, round, bytes));
            if !blobs.into_iter().eq(expected) {
                return Err(format!("rank {rank}: {bytes} bytes of round {round} are others"));
            }
        }
    }
    Ok(start.elapsed() / (count * sizes.len() as u32).max(1))
}

/// Makes the blob of a rank: bytes that differ between ranks and rounds.
fn blob(rank: u32, round: u32, bytes: usize) -> Vec<u8> {
    let seed = u64::from(rank) << 32 | u64::from(round);
    let mut random = fastrand::Rng::with_seed(seed);
    std::iter::repeat_with(|| random.u8(..)).take(bytes).collect()
}

/// Prints a line, in one call so that lines of different ranks do not mix.
fn report(launcher: &Launcher, session: &Session, opened: Duration, time: Duration) {
    let exchange = match launcher.exchange() {
        Exchange::Pmi { .. } => "PMI-1",
        _ => "PMIx",
    };
    println!(
        "rank {} of {}, {}/{} on its node, by {}, job {}: blobs by {exchange}; opened in {opened:.1?}, \
         an exchange in {time:.1?}",
        session.rank(),
        session.size(),
        number(session.local_rank()),
        number(session.local_size()),
        launcher.kind().name(),
        session.job(),
    );
}

fn abort(session: Session) -> Result<(), String> {
    if session.rank() == 0 {
        session.abort(3, "it was told to abort");
    }
    // Only an abort ends this wait.
    sleep(Duration::from_secs(60));
    Err(format!("rank {} was not ended", session.rank()))
}

fn late(mut session: Session) -> Result<(), String> {
    let is_last = session.rank() + 1 == session.size();
    if !is_last {
        match session.allgather(b"x", Duration::from_millis(500)) {
            Err(error @ Error::Deadline { .. }) => println!("met: {error}"),
            other => println!("instead of a deadline: {other:?}"),
        }
    }
    // Nobody leaves before all have printed: launchers end the others then.
    sleep(Duration::from_secs(2));
    Ok(())
}

fn shown(error: Error) -> String {
    error.to_string()
}

fn number(number: Option<u32>) -> String {
    number.map_or("?".to_owned(), |number| number.to_string())
}
