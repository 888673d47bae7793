//! The progress of a command on a terminal: a line that appears when something takes longer than a
//! second and is gone before anything else is written.

use indicatif::ProgressBar;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time before the line appears. A command that ends sooner shows none.
const DELAY: Duration = Duration::from_secs(1);
/// Time between two drawings of the line.
const TICK: Duration = Duration::from_millis(100);

/// The current stage, the time since which nothing else was written, and the line that shows it.
struct Shown {
    text: String,
    since: Instant,
    bar: Option<ProgressBar>,
}

static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);

/// True if a result goes to the terminal: the line would be drawn into it.
static RESULT_ON_TERMINAL: AtomicBool = AtomicBool::new(false);

fn shown() -> MutexGuard<'static, Option<Shown>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the current stage. It is shown on a terminal only, after a second.
pub fn show_stage(text: &str) {
    if RESULT_ON_TERMINAL.load(Ordering::Relaxed) || !is_drawn() {
        return;
    }
    let mut shown = shown();
    if let Some(shown) = &mut *shown {
        if shown.text != text {
            shown.text = text.to_owned();
            if let Some(bar) = &shown.bar {
                bar.set_message(shown.text.clone());
            }
        }
        return;
    }
    let since = Instant::now();
    *shown = Some(Shown { text: text.to_owned(), since, bar: None });
    // If the system starts no thread, the stage is not shown.
    let _ = thread::Builder::new().name("stage".to_owned()).spawn(move || draw(since));
}

/// Returns true if standard error is a terminal that can rewrite a line.
fn is_drawn() -> bool {
    io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Redraws the line until it is cleared.
fn draw(since: Instant) {
    thread::park_timeout(DELAY);
    loop {
        {
            let mut shown = shown();
            let Some(shown) = shown.as_mut().filter(|shown| shown.since == since) else { return };
            let bar = shown
                .bar
                .get_or_insert_with(|| ProgressBar::new_spinner().with_message(shown.text.clone()));
            bar.tick();
        }
        thread::park_timeout(TICK);
    }
}

/// Removes the line. Must be called before anything is written to the terminal, and at the end.
pub fn clear_stage() {
    if let Some(bar) = shown().take().and_then(|shown| shown.bar) {
        bar.finish_and_clear();
    }
}

/// Shows no stage from now on if standard output is a terminal, because a result follows.
pub(super) fn leave_stdout_to_result() {
    if io::stdout().is_terminal() {
        RESULT_ON_TERMINAL.store(true, Ordering::Relaxed);
        clear_stage();
    }
}
