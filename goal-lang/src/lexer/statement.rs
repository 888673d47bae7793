//! The ends of statements.

use super::{Lexer, Token};

/// Returns the end of the statement that begins at `start`: the end of its last word, and the end
/// of the semicolon behind it if there is one.
pub(crate) fn end_of_statement(text: &[u8], start: usize) -> (usize, Option<usize>) {
    let mut end = start;
    let mut is_open = true;
    for (_, token, token_end) in Lexer::new(text, start, text.len()) {
        match token {
            Token::Semicolon => return (end, Some(token_end)),
            Token::CloseBrace | Token::Rank | Token::NumRanks => break,
            Token::LabelDef(_) if end > start => break,
            Token::LabelDef(_) => {}
            token if token.begins_statement() && !std::mem::take(&mut is_open) => break,
            _ => is_open = false,
        }
        end = token_end;
    }
    (end, None)
}
