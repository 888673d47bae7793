//! The harness for traces of runs.

use goal_draw::{Options, Scene, Style, by_trace, svg, text};

/// Checks any bytes as a trace: one that is read is drawn, with texts that no terminal obeys.
/// Returns true if it was accepted.
///
/// # Panics
/// If that does not hold.
pub fn trace(bytes: &[u8]) -> bool {
    let drawn = by_trace("input", bytes, &Options::default());
    let is_obeyed = |c: char| c.is_control() && c != '\n';
    match drawn {
        Ok(diagram) => {
            assert!(!svg(&Scene::new(&diagram), Style::Screen).contains(is_obeyed));
            assert!(!text(&diagram, 80).contains(is_obeyed));
            true
        }
        Err(error) => {
            let line = error.to_string();
            assert!(line.len() < 1024 && !line.contains(char::is_control), "{line:?}");
            false
        }
    }
}
