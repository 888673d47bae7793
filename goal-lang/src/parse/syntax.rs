//! Syntax errors: their reports, and the place at which the parser continues after one.

use lalrpop_util::ParseError;

use super::advice::Around;
use super::builder::Builder;
use super::cut::cut;
use super::expected::{Where, alternatives, meant};
use crate::diag::{Code, Diagnostic};
use crate::lexer::{Lexer, Spanned, Token};
use crate::limits::SYNTAX_ERRORS_MAX;

/// The tokens before an error that an advice may need.
const TOKENS_BEFORE: usize = 4;

type Error = ParseError<usize, Token, &'static str>;

/// Reports an error and moves the lexer to the beginning of the next statement or block. Returns
/// the start token with which the parser continues there, or `None` at the end of the text.
pub(super) fn recover(
    builder: &mut Builder,
    lexer: &mut Lexer,
    error: Error,
    end: usize,
    bare: bool,
) -> Option<Token> {
    let (found, expected) = match error {
        ParseError::UnrecognizedToken { token, expected } => (Some(token), expected),
        ParseError::UnrecognizedEof { expected, .. } => (None, expected),
        ParseError::ExtraToken { token } => (Some(token), Vec::new()),
        ParseError::InvalidToken { .. } | ParseError::User { .. } => (None, Vec::new()),
    };
    let found = found.map(|token| lexer.first_statement(token));
    if let Some(label) = lexer.plain_label(found.is_some()) {
        builder.unfinished(label);
    }
    builder.abandon_statement();
    // The parser ends a block only when it sees the token behind the brace. If that token is the
    // unexpected one, the block is already closed in the text.
    let next = found.map_or(end, |token| token.0);
    let closed = lexer.closed_before(next);
    if builder.open_block().is_some_and(|head_end| head_end < closed) {
        builder.end_block(closed);
    }
    if let Some((start, Token::Bad, _)) = found
        && builder.text[start..].starts_with(b"/*")
    {
        unclosed_comment(builder, start);
        if builder.open_block().is_some() {
            builder.end_block(end);
        }
        return None;
    }
    let cut = cut(builder, lexer, found, &expected, end);
    // The last few tokens may be whole statements.
    let from =
        (0..TOKENS_BEFORE).rev().find_map(|back| lexer.past(back)).map_or(0, |past| past.start);
    let around = found.map(|token| Around::new(builder, from, lexer.first_word(token), end));
    let place = match builder.open_block() {
        Some(_) => Where::Block,
        None if bare => Where::Bare,
        None => Where::Outside,
    };
    if let Some(cut) = &cut {
        cut.report(builder, found, &expected, place);
        if let Some(position) = cut.again {
            lexer.rewind(position);
            return match give_up(builder, found) {
                true => None,
                false if place == Where::Block => Some(Token::StartInside),
                false => Some(Token::StartBare),
            };
        }
    }
    if cut.is_none() && around.as_ref().is_some_and(Around::is_before_peer) {
        unexpected(builder, found, &expected, end, place, around.as_ref());
        if give_up(builder, found) {
            return None;
        }
        let next = lexer.next();
        skip_statement(lexer, next, place == Where::Block);
        return Some(if place == Where::Block { Token::StartInside } else { Token::StartBare });
    }
    if let Some(head_end) = builder.open_block() {
        match found {
            None | Some((_, Token::Rank | Token::NumRanks, _)) => {
                unclosed(builder, head_end, found, end);
                builder.end_block(found.map_or(end, |token| token.0));
                if give_up(builder, found) {
                    return None;
                }
                lexer.push_back(found?);
                return Some(Token::StartBlocks);
            }
            Some(_) if cut.is_some() => {}
            Some(token) => {
                unexpected(
                    builder,
                    Some(lexer.first_word(token)),
                    &expected,
                    end,
                    place,
                    around.as_ref(),
                );
            }
        }
        if give_up(builder, found) {
            return None;
        }
        skip_statement(lexer, found, true);
        return Some(Token::StartInside);
    }
    if bare {
        if let Some(token @ (start, Token::Rank | Token::NumRanks, _)) = found {
            stray(builder, start);
            builder.end_block(start);
            builder.chunk.bare = false;
            lexer.push_back(token);
            return Some(Token::StartBlocks);
        }
        if cut.is_none() {
            unexpected(
                builder,
                found.map(|token| lexer.first_word(token)),
                &expected,
                end,
                place,
                around.as_ref(),
            );
        }
        found?;
        if give_up(builder, found) {
            return None;
        }
        skip_statement(lexer, found, false);
        return Some(Token::StartBare);
    }
    if cut.is_none() {
        unexpected(
            builder,
            found.map(|token| lexer.first_word(token)),
            &expected,
            end,
            place,
            around.as_ref(),
        );
    }
    if give_up(builder, found) {
        return None;
    }
    let found = found?;
    // If only the brace is missing, the statements belong to the block.
    let is_head = expected.iter().any(|terminal| terminal == "\"{\"" || terminal == "\"#\"");
    if let Some(cut) = cut.filter(|_| is_head && found.1.begins_statement()) {
        builder.begin_block(cut.end());
        lexer.push_back(found);
        return Some(Token::StartInside);
    }
    skip_to_block(builder, lexer, found)
}

fn give_up(builder: &mut Builder, found: Option<Spanned>) -> bool {
    let Some((start, _, end)) = found else { return false };
    if builder.chunk.syntax_errors < SYNTAX_ERRORS_MAX {
        return false;
    }
    let span = builder.span(start, end);
    builder.chunk.gave_up = true;
    builder.report.add(Code::LimitExceeded, || {
        Diagnostic::new(
            Code::LimitExceeded,
            format!("more than {SYNTAX_ERRORS_MAX} syntax errors: the rest is not read"),
        )
        .label(span, "stopped here")
        .note("a text with this many errors is hardly meant to be a program")
        .help("is this a GOAL file?")
    });
    true
}

/// Skips to the next token that can begin a statement or a block. Inside a block, a closing brace
/// ends the skipping too.
fn skip_statement(lexer: &mut Lexer, found: Option<Spanned>, inside: bool) {
    let mut token = found;
    while let Some(at @ (_, kind, _)) = token {
        if kind.begins_statement()
            || matches!(kind, Token::Semicolon | Token::Rank | Token::NumRanks)
            || inside && kind == Token::CloseBrace
        {
            lexer.push_back(at);
            return;
        }
        token = lexer.next();
    }
}

/// Skips to the next block, or into a block whose head is broken. Returns the start token with
/// which the parser continues.
fn skip_to_block(builder: &mut Builder, lexer: &mut Lexer, found: Spanned) -> Option<Token> {
    let mut at = found;
    loop {
        match at {
            (_, Token::Rank | Token::NumRanks, _) => {
                builder.abandon_head();
                lexer.push_back(at);
                return Some(Token::StartBlocks);
            }
            (start, Token::OpenBrace, _) => {
                builder.begin_block(start);
                return Some(Token::StartInside);
            }
            _ => at = lexer.next()?,
        }
    }
}

fn unclosed(builder: &mut Builder, head_end: usize, found: Option<Spanned>, end: usize) {
    builder.chunk.syntax_errors += 1;
    let brace = match Lexer::new(builder.text, head_end, end).next() {
        Some((brace, Token::OpenBrace, _)) => brace,
        _ => head_end,
    };
    let brace = builder.span(brace, brace + 1);
    let add = "add a `}` after the last statement of the block";
    let (stop, text, help) = match found {
        Some((start, _, end)) => {
            (builder.span(start, end), "a new block begins before it is closed", add)
        }
        None => {
            let help = "if the text was cut off while it was written, make it again: its end is \
                        missing; otherwise add a `}` after the last statement of the block";
            (builder.span(end, end), "the text ends before it is closed", help)
        }
    };
    builder.report.add(Code::Syntax, || {
        Diagnostic::new(Code::Syntax, "this block is never closed")
            .label(brace, "opened here")
            .label(stop, text)
            .note("a block reaches to its `}`; blocks don't lie in each other")
            .help(help)
    });
}

fn unclosed_comment(builder: &mut Builder, start: usize) {
    builder.chunk.syntax_errors += 1;
    let span = builder.span(start, start + 2);
    builder.report.add(Code::Syntax, || {
        Diagnostic::new(Code::Syntax, "this comment is never closed")
            .label(span, "opened here")
            .note("everything up to the end of the text is taken for the comment")
            .help("end it with `*/`")
    });
}

fn stray(builder: &mut Builder, start: usize) {
    builder.chunk.syntax_errors += 1;
    let first = builder.span(builder.first, builder.number_end(builder.first));
    let place = builder.span(start, builder.number_end(start));
    builder.report.add(Code::Syntax, || {
        Diagnostic::new(Code::Syntax, "statements stand outside of any rank block")
            .label(first, "this one belongs to no rank")
            .label(place, "but here a rank block begins")
            .note("a text is either the statements of one rank or the blocks of all")
            .help("put the statements into a block: `rank 0 { ... }`")
    });
}

fn unexpected(
    builder: &mut Builder,
    found: Option<Spanned>,
    expected: &[String],
    end: usize,
    at: Where,
    around: Option<&Around>,
) {
    builder.chunk.syntax_errors += 1;
    let (span, what) = match (found, around.and_then(Around::foreign_word)) {
        (_, Some((start, end))) => (builder.span(start, end), builder.quote(start, end)),
        (Some((start, token, end)), None) => {
            (builder.span(start, end), describe(builder, start, token, end))
        }
        (None, None) => (builder.span(end, end), "the end of the text".to_owned()),
    };
    let words = alternatives(expected);
    builder.report.add(Code::Syntax, || {
        let message = match (at, found) {
            (Where::Outside, Some((_, token, _))) if token.begins_statement() => {
                format!("{what} stands outside of any rank block")
            }
            _ => format!("{what} cannot stand here"),
        };
        let diagnostic = Diagnostic::new(Code::Syntax, message)
            .label(span, format!("expected {words}"))
            .note("reading goes on at the next statement or block");
        let meant = match found {
            Some((start, Token::Word(len), _)) => meant(builder.text, start, len, expected),
            _ => None,
        };
        if let Some(advice) = around.and_then(|around| around.advice(expected)) {
            return diagnostic.help(advice);
        }
        match (at, found) {
            (Where::Outside, Some((_, Token::CloseBrace, _))) => {
                diagnostic.help("no block is open: leave it out")
            }
            (_, Some((_, Token::Bytes(_), _))) => {
                diagnostic.help("`Nb` is a size without an address; a buffer is `ADDRESS,SIZE`")
            }
            _ if meant.is_some() => {
                diagnostic.help(format!("did you mean `{}`?", meant.unwrap_or_default()))
            }
            (Where::Outside, _) => {
                diagnostic.help("a program is `num_ranks N` and blocks `rank R { ... }`")
            }
            (_, Some((_, token, _))) if token != Token::CloseBrace && !token.begins_statement() => {
                diagnostic.help(format!("write {words}, or leave {what} out"))
            }
            _ => diagnostic.help(format!("write {words}")),
        }
    });
}

/// Returns the first character of a text if it is not an ASCII character.
fn foreign_char(text: &[u8]) -> Option<char> {
    let first = text.utf8_chunks().next()?.valid().chars().next()?;
    (!first.is_ascii()).then_some(first)
}

/// Returns true for characters without a width, and for those that change the direction of text.
fn is_invisible(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(char, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn describe(builder: &Builder, start: usize, token: Token, end: usize) -> String {
    if let Some(char) = foreign_char(&builder.text[start..]) {
        let is_shown = !char.is_whitespace() && !char.is_control() && !is_invisible(char);
        let shown = if is_shown { format!(" `{char}`") } else { String::new() };
        return format!("the character U+{:04X}{shown}", u32::from(char));
    }
    let text = builder.quote(start, end);
    match token {
        Token::LabelDef(_) => format!("the label {text}"),
        Token::Waiter(_) | Token::Name(_) => format!("the label {text}"),
        Token::Int(_) | Token::Negative | Token::Float => format!("the number {text}"),
        _ => text,
    }
}
