use super::*;

#[track_caller]
fn check(text: &str, style: Option<Style>, expected: &str) {
    let options = FormatOptions { style };
    let once = fmt(text.as_bytes(), options).expect("a text without syntax errors");
    assert_eq!(String::from_utf8_lossy(&once), expected);
    let twice = fmt(&once, options).expect("what was formatted is still in the language");
    assert_eq!(String::from_utf8_lossy(&twice), expected, "formatted again");
}

#[test]
fn one_statement_a_line() {
    check(
        "num_ranks 2 rank  #0,#1{a:send 10 b to 1 tag 3;nop;;requ a->b ; b : exec sumInt32 with 0 , 8,8,8
         [ 1,2 , @ 3,4 ]}",
        None,
        "\
num_ranks 2
rank #0, #1 {
  a: send 10b to 1 tag 3;
  nop;
  requ a -> b;
  b: exec sumInt32 with 0,8 8,8 [1,2 @3,4]
}
",
    );
}

#[test]
fn comments_stay_where_they_are() {
    check(
        "#!goal \r\n\n\n// two\nrank 0 // root\n{ # zero\n\n # own  \n nop# beside\n;\n\n\n/* a\r\n b */ nop /* c */ // d\n\n # last\n} # end\n/* open */ rank 1 { }\nrank 2 { /* idle */ }\n\n#bottom",
        None,
        "\
#!goal

// two
rank 0 // root
  { # zero

  # own
  nop; # beside

  /* a
 b */
  nop /* c */ // d

  # last
} # end
/* open */
rank 1 {}
rank 2 { /* idle */
}

#bottom
",
    );
}

#[test]
fn comments_within_statements() {
    check(
        "a/*1*/:#2\nsend 8/*3*/b to/*4*/1 tag//5\n0 requ/*6*/a->a recv 0/*7*/,/*8*/8 from any",
        Some(Style::Schedgen),
        "\
/*1*/
//2
/*3*/
/*4*/
//5
a: send 8b to 1 tag 0
/*6*/
a requires a
/*7*/
/*8*/
recv 0,8 from -1
",
    );
    check(
        "a/*1*/:#2\nsend 8/*3*/b to/*4*/1 tag//5\n0 requ/*6*/a->a recv 0/*7*/,/*8*/8 from any",
        None,
        "\
a: /*1*/ #2
  send 8b /*3*/ to /*4*/ 1 tag //5
  0
requ /*6*/ a -> a
recv 0, /*7*/ /*8*/ 8 from any
",
    );
}

#[test]
fn loggopsim_reads_what_it_read_before() {
    let text = "\
num_ranks 2
// of a generator

rank 0 {
// first
a: calc 1
/* two
 lines */
b: send 8b to 1 tag 0 cpu 1 nic 1
b irequires a
}
// between
rank 1 {
recv 8b from -1 tag -1
}
";
    check(text, None, text);
    check(text, Some(Style::Schedgen), text);
    check(
        "num_ranks 2\n  rank 0 {// of it\n  a: calc 1 // beside\n  }// end\n rank 1 {}",
        None,
        "num_ranks 2\nrank 0 {\n// of it\na: calc 1 // beside\n}\n// end\nrank 1 {}\n",
    );
    let flat = "rank 0 {\n// one\nexec sumInt8 with 0,1 1,1\n}\nrank 1 {\nnop\n}\n";
    check(flat, None, flat);
    check("rank 0 { // one\n nop\nnop }", None, "rank 0 { // one\n  nop\n  nop\n}\n");
    let indented = "rank 0 {\n  a: calc 1 // beside\n}\n";
    check(indented, None, indented);
}

#[test]
fn comments_of_schedgens_spelling_stand_before_their_statement() {
    check(
        "#!goal\nnum_ranks 1 # one\n\nrank #0 /*a*/ { # b\n\n# c\ncalc 0x10; /* d */ # e\n\ncalc 2 # f\n # g\n} # h",
        Some(Style::Schedgen),
        "\
//!goal
// one
num_ranks 1

/*a*/
rank 0 {
// b

// c
/* d */
// e
calc 16

// f
calc 2
// g
}
// h
",
    );
}

#[test]
fn spellings_are_converted() {
    let paper = "\
num_ranks 3;
rank #0, #2 {
  a: send 0,4 to 1;
  b: calc 0x10; # ten
  requ b -> a;
  b irequires a;
  recv 0x1f b from any tag any;
  init 0 = Float32 1.5 -2 nan;
}
";
    let schedgen = "\
num_ranks 3
rank 0, 2 {
a: send 0,4 to 1
// ten
b: calc 16
b requires a
b irequires a
recv 31b from -1 tag -1
init 0 = Float32 1.5 -2 nan
}
";
    check(paper, Some(Style::Schedgen), schedgen);
    check(schedgen, Some(Style::Schedgen), schedgen);
    check(paper, Some(Style::Paper2009), paper);
    check(paper, None, paper);
    let back = "\
num_ranks 3;
rank #0, #2 {
  a: send 0,4 to 1;
  // ten
  b: calc 16;
  requ b -> a;
  b irequires a;
  recv 31b from any tag any;
  init 0 = Float32 1.5 -2 nan;
}
";
    check(schedgen, Some(Style::Paper2009), back);
}

#[test]
fn labels_that_are_keywords() {
    check(
        "calc 10; b requires tag; tag: calc 1; requ cpu -> b cpu: nop b: nop requires: nop requ requires -> any any:nop; requires irequires b",
        Some(Style::Schedgen),
        "\
calc 10
b requires tag
tag: calc 1
cpu requires b
cpu: nop
b: nop
requires: nop
requ requires -> any
any: nop;
requires irequires b
",
    );
}

#[test]
fn nothing_stays_nothing() {
    check("", None, "");
    check(" \n ; \n", None, "");
    check("\n\n# c", None, "# c\n");
}

#[test]
fn a_text_with_syntax_errors_is_refused() {
    let report = fmt(b"rank 0 { nop nap }", FormatOptions::default()).expect_err("a syntax error");
    assert_eq!(report.errors, 1);
    assert!(fmt(b"a: nop a: nop a requires x", FormatOptions::default()).is_ok());
}

#[test]
fn comments_between_a_number_and_its_unit() {
    check("rank 0{send 8/**/b to 0}", None, "rank 0 {\n  send 8b /**/ to 0\n}\n");
    check("rank *{send 8//c\nb to 0}", None, "rank * {\n  send 8b //c\n    to 0\n}\n");
    check("rank *{send 8#c\nb to 0}", None, "rank * {\n  send 8b #c\n    to 0\n}\n");
    check("rank 0{send 0x8/**/b to 0}", None, "rank 0 {\n  send 0x8 b /**/ to 0\n}\n");
}
