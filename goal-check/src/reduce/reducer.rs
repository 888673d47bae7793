//! Taking parts away in chunks that get smaller.

use super::Reducer;
use goal_lang::Program;

impl Reducer<'_> {
    /// Takes away what can go of `parts` parts of the best program: all together, then halves of
    /// what is left, and so on down to single ones, the last ones first. `without` makes the
    /// program without some parts, or says that there is none.
    pub(super) fn take_away(
        &mut self,
        parts: usize,
        without: impl Fn(&Program, &[bool]) -> Option<Program>,
    ) {
        let program = self.best.clone();
        let mut gone = vec![false; parts];
        let mut left: Vec<usize> = (0..parts).collect();
        let mut size = parts;
        while size > 0 && !left.is_empty() {
            for chunk in left.rchunks(size) {
                if self.stopped {
                    return;
                }
                chunk.iter().for_each(|&part| gone[part] = true);
                let went =
                    without(&program, &gone).is_some_and(|candidate| self.attempt(candidate));
                if !went {
                    chunk.iter().for_each(|&part| gone[part] = false);
                }
            }
            left.retain(|&part| !gone[part]);
            size = if size == 1 { 0 } else { size.div_ceil(2).min(left.len()) };
        }
    }
}
