use super::{Choice, Request, RequestError};
use crate::transport::plugin::{Name, TransportKind};
use goal_engine::transport::Distance;

fn request(option: Option<&str>, environment: &[(&str, &str)]) -> Result<Request, RequestError> {
    let owned = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Request::new(option.map(|list| ("--transport", list)), owned)
}

/// The command line's list, the environment, and what carries messages to oneself and to others.
type Case =
    (Option<&'static str>, &'static [(&'static str, &'static str)], Option<Name>, Option<Name>);

#[test]
fn the_highest_priority_that_reaches_and_may_be_used_is_chosen() {
    const LIST: &str = "GOAL_TRANSPORT";
    const LOCAL: &str = "GOAL_TRANSPORT_PRIORITY_LOCAL";
    const SHM: &str = "GOAL_TRANSPORT_PRIORITY_SHM";
    let (local, shm) = (Some(Name::Local), Some(Name::Shm));
    let cases: &[Case] = &[
        (None, &[], local, shm),
        (Some("auto"), &[], local, shm),
        (Some("local,shm"), &[], local, shm),
        (Some("shm, local"), &[], local, shm),
        (Some("shm"), &[], shm, shm),
        (Some("^local"), &[], shm, shm),
        (Some("local"), &[], local, None),
        (Some("^shm"), &[], local, None),
        (Some("^shm,local"), &[], None, None),
        (None, &[(LIST, "shm")], shm, shm),
        (None, &[(LIST, "^shm")], local, None),
        (None, &[(LIST, "")], local, shm),
        // The command line is stronger.
        (Some("local"), &[(LIST, "shm")], local, None),
        (Some("auto"), &[(LIST, "shm")], local, shm),
        (Some("shm"), &[(LIST, "wrong")], shm, shm),
        (None, &[(LOCAL, "1")], shm, shm),
        (None, &[(LOCAL, "0")], shm, shm),
        (None, &[(SHM, "0")], local, None),
        (None, &[(SHM, "1000")], shm, shm),
        // Of two with equal priorities the faster one is chosen.
        (None, &[(SHM, "5"), (LOCAL, "5")], local, shm),
        // A priority doesn't bring back what a list leaves out.
        (Some("^shm"), &[(SHM, "1000")], local, None),
    ];
    for &(option, environment, own, node) in cases {
        let choice = Choice::among(&request(option, environment).unwrap(), |_| Ok::<_, String>(()));
        let chosen = [Distance::Own, Distance::Node].map(|distance| choice.messages(distance));
        assert_eq!(chosen, [own, node], "{option:?} {environment:?}");
        assert_eq!(choice.paths(Distance::Node).is_ok(), own.is_some() && node.is_some());
        assert_eq!(choice.paths(Distance::Own).is_ok(), own.is_some());
    }
}

#[test]
fn ranks_of_a_host_share_memory_whatever_leads_to_others() {
    let choose = |option| {
        let choice = Choice::among(&request(option, &[]).unwrap(), |_| Ok::<_, String>(()));
        (
            choice.paths(Distance::Network).map(|paths| paths.carriers),
            choice.names(Distance::Network),
        )
    };
    let all = [TransportKind::Local, TransportKind::Shm, TransportKind::Remote];
    for option in [None, Some("esp"), Some("local,shm,esp"), Some("^cma")] {
        assert_eq!(
            choose(option),
            (Ok(all), vec![Name::Local, Name::Shm, Name::Esp]),
            "{option:?}"
        );
    }
    assert_eq!(
        choose(Some("shm,esp")).0.unwrap(),
        [TransportKind::Shm, TransportKind::Shm, TransportKind::Remote]
    );
    let error = choose(Some("shm")).0.unwrap_err();
    assert_eq!(
        error.to_string(),
        "a rank can't reach those on other hosts: esp is left out by --transport=shm (--transport=shm,esp puts it back); tcp is left out by --transport=shm (--transport=shm,tcp puts it back); mpi is left out by --transport=shm (--transport=shm,mpi puts it back)"
    );
}

#[test]
fn what_can_not_be_used_here_is_passed_over() {
    let choice = Choice::among(&Request::default(), |name| match name {
        Name::Local => Err("forbidden"),
        _ => Ok(()),
    });
    assert_eq!(choice.names(Distance::Node), [Name::Shm]);
    let refusals: Vec<String> = choice
        .standings()
        .iter()
        .filter_map(|standing| Some(standing.refusal.as_ref()?.to_string()))
        .collect();
    assert_eq!(refusals, ["forbidden"]);
}

#[test]
fn errors_name_what_there_is_and_the_way_out() {
    type Case = (Option<&'static str>, &'static [(&'static str, &'static str)], &'static str);
    let wrong: &[Case] = &[
        (
            Some("smh"),
            &[],
            "--transport=smh: there is no transport `smh`; there are local, shm, cma, esp",
        ),
        (Some("^shm,"), &[], "--transport=^shm,: there is no transport ``"),
        (
            None,
            &[("GOAL_TRANSPORT", "threads")],
            "GOAL_TRANSPORT=threads: there is no transport `threads`",
        ),
        (
            None,
            &[("GOAL_TRANSPORT_PRIORITY_SMH", "1")],
            "there are GOAL_TRANSPORT_PRIORITY_LOCAL, GOAL",
        ),
        (
            None,
            &[("GOAL_TRANSPORT_PRIORITY_SHM", "-1")],
            "GOAL_TRANSPORT_PRIORITY_SHM=-1: give a whole number",
        ),
    ];
    for (option, environment, text) in wrong {
        let error = request(*option, environment).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    let unreachable: &[Case] = &[
        (
            Some("local"),
            &[],
            "a rank can't reach another one on its host: shm is left out by --transport=local (--transport=local,shm puts it back)",
        ),
        (
            None,
            &[("GOAL_TRANSPORT", "^shm")],
            "a rank can't reach another one on its host: shm is left out by GOAL_TRANSPORT=^shm (take shm out of GOAL_TRANSPORT=^shm)",
        ),
        (
            Some("^local"),
            &[("GOAL_TRANSPORT_PRIORITY_SHM", "0")],
            "a rank can't reach itself: local is left out by --transport=^local (take local out of --transport=^local); \
             shm is turned off by its priority of 0 (unset GOAL_TRANSPORT_PRIORITY_SHM)",
        ),
    ];
    for (option, environment, text) in unreachable {
        let error =
            Choice::new(&request(*option, environment).unwrap()).paths(Distance::Node).unwrap_err();
        assert_eq!(error.to_string(), *text);
    }
}
