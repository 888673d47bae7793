use crate::{Options, check};
use goal_lang::diag::Code;
use goal_lang::{ParseOptions, SourceMap};
use std::sync::Arc;

/// The messages of a program's findings about datatypes.
fn messages(text: &str) -> Vec<String> {
    let mut sources = SourceMap::default();
    sources.add("test.goal", Arc::new(text.as_bytes().to_vec()));
    let parsed = goal_lang::parse(&sources, &ParseOptions::default());
    let program = parsed.program.unwrap_or_else(|| panic!("{:?}", parsed.report));
    let report = check(&program, Some(&sources), &Options::default());
    let about = report.diagnostics.into_iter().filter(|found| found.code == Code::DatatypeMismatch);
    about.map(|found| found.message).collect()
}

#[test]
fn a_message_is_read_as_it_was_written_however_it_is_sent() {
    for size in [8, 8_000_000] {
        let text = |datatype: &str| {
            format!(
                "rank 0 {{ w: exec sumInt32 with 0,{size} 8000000,{size}; s: send 8000000,{size} to 1; s requires w; }}
                 rank 1 {{ r: recv 0,{size} from 0; e: exec sum{datatype} with 0,{size} 8000000,{size}; e requires r; }}"
            )
        };
        assert!(messages(&text("Int32")).is_empty());
        assert_eq!(
            messages(&text("UInt32")),
            [
                "rank 1, exec `e` (line 2) reads as UInt32 what rank 0, exec `w` (line 1) has written as Int32, and rank 0, send `s` (line 1) has sent"
            ]
        );
    }
}

#[test]
fn only_the_first_reader_of_what_came_is_told() {
    let text = "rank 0 { init 0 = Int64 7; send 0,8 to 1; }
        rank 1 {
            r: recv 0,8 from 0;
            a: exec sumInt64 with 0,8 8,8;
            b: exec sumFloat64 with 0,8 16,8;
            a requires r; b requires a;
        }";
    assert!(messages(text).is_empty());
}

#[test]
fn a_receive_that_combines_is_a_reader_and_a_send_that_does_a_writer() {
    let text = |send: &str, recv: &str| {
        format!(
            "rank 0 {{ init 0 = Int16 7; send 0,2 to 1 {send}; }}
             rank 1 {{ recv 0,2 from 0 {recv}; }}"
        )
    };
    assert!(messages(&text("", "with sumInt16")).is_empty());
    assert_eq!(messages(&text("", "with sumUInt16")).len(), 1);
    assert_eq!(messages(&text("with sumUInt16 8,2", "with sumInt16")).len(), 1);
    assert!(messages(&text("with sumUInt16 8,2", "with sumUInt16")).is_empty());
}

#[test]
fn messages_that_may_be_exchanged_are_not_followed() {
    let text = |order: &str| {
        format!(
            "rank 0 {{ init 0 = Int64 1; init 8 = Float64 1; a: send 0,8 to 1; b: send 8,8 to 1; {order} }}
             rank 1 {{
                 r: recv 0,8 from 0; q: recv 8,8 from 0; q irequires r;
                 e: exec sumFloat64 with 0,8 16,8; e requires r;
             }}"
        )
    };
    assert!(messages(&text("")).is_empty());
    assert_eq!(messages(&text("b irequires a;")).len(), 1);
}
