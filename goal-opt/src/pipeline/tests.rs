use super::*;

fn names(pipeline: &Pipeline) -> Vec<&'static str> {
    pipeline.passes.iter().map(|invocation| invocation.pass.name).collect()
}

#[test]
fn the_table_has_each_name_once() {
    for (i, pass) in PASSES.iter().enumerate() {
        assert!(PASSES[..i].iter().all(|other| other.name != pass.name), "{}", pass.name);
    }
}

#[test]
fn a_level_has_what_lower_ones_have() {
    let (o0, o1, o2) =
        (Pipeline::new(Level::O0), Pipeline::new(Level::O1), Pipeline::new(Level::O2));
    assert!(names(&o0).iter().all(|name| names(&o1).contains(name)));
    assert!(names(&o1).iter().all(|name| names(&o2).contains(name)));
    assert_eq!(names(&o0), ["join"]);
}

#[test]
fn lists_of_passes() {
    let parsed = Pipeline::parse("topological, join").expect("a list");
    assert_eq!(names(&parsed), ["topological", "join"]);
    assert_eq!(names(&Pipeline::parse("topological").expect("a list")), ["topological", "join"]);
    assert_eq!(names(&Pipeline::parse("").expect("a list")), ["join"]);
    assert_eq!(
        names(&Pipeline::parse("join(3),prune").expect("a list")),
        ["join", "prune", "join"]
    );
    let error = |text| Pipeline::parse(text).map(|_| ()).expect_err("no list");
    assert_eq!(error("topologic"), SpecError::UnknownPass("topologic".to_owned()));
    assert_eq!(
        error("join(a=1)"),
        SpecError::UnknownParameter { pass: "join", parameter: "a".to_owned() }
    );
    for text in ["join(3,4)", "join(most=3,most=3)", "join(3,most=4)"] {
        assert_eq!(error(text), SpecError::Twice { pass: "join", parameter: "most" });
    }
    for text in ["join(", "join,,join", ",", "join)", "join join", "join,"] {
        assert!(matches!(error(text), SpecError::Form(_) | SpecError::UnknownPass(_)), "{text}");
    }
}

#[test]
fn levels_ask_the_cost_model_and_lists_do_not() {
    assert!(Pipeline::new(Level::O2).asks_cost_model);
    assert!(!Pipeline::parse("contention").expect("a list").asks_cost_model);
}
