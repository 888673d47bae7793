use super::processors::{Machine, claim_cores, machine, try_claim};
use super::request::list;
use super::{Bind, BindError, Binding, BindingError, Placement, Unbound, num_processors, usable};
use crate::limits::LISTED_PROCESSORS_MAX;
use goal_filetest::skipped;
use rustix::thread::sched_getaffinity;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

#[test]
fn requests_are_words_or_lists() {
    let parse = |text: &str| text.parse::<Bind>();
    assert_eq!(parse("core"), Ok(Bind::Core));
    assert_eq!(parse("none"), Ok(Bind::None));
    assert_eq!(parse("0,2-5"), Ok(Bind::List(vec![0, 2, 3, 4, 5])));
    assert_eq!(parse("3,1,1"), Ok(Bind::List(vec![3, 1, 1])));
    for wrong in ["", "cores", "1,", ",1", "1-", "-1", "1-2-3", "+1", "0x1", " 1", "1;2", "\u{661}"]
    {
        assert_eq!(parse(wrong), Err(BindError::Text), "{wrong}");
    }
    assert_eq!(parse("5-2"), Err(BindError::Down { first: 5, last: 2 }));
    for (text, number) in [
        ("1024", "1024"),
        ("0-4294967295", "4294967295"),
        ("99999999999999999999", "99999999999999999999"),
        ("99999999999-3", "99999999999"),
    ] {
        assert_eq!(parse(text), Err(BindError::TooLarge(number.to_string())));
    }
    let long = ["0-1023"; LISTED_PROCESSORS_MAX / 1024 + 1].join(",");
    assert_eq!(parse(&long), Err(BindError::TooLong));
}

#[test]
fn lists_are_written_as_they_are_read() {
    for text in ["0", "0-1", "0,2-5", "3,1,1,7-9", "5,4"] {
        let Ok(Bind::List(processors)) = text.parse() else { panic!("{text}") };
        assert_eq!(list(&processors), text);
    }
}

/// Creates files as sysfs has them, for processors with these siblings: one text for each
/// processor.
fn folder(siblings: &[&str]) -> Folder {
    let system = tempfile::tempdir().unwrap();
    for (processor, siblings) in siblings.iter().enumerate() {
        let topology = system.path().join(format!("cpu{processor}/topology"));
        fs::create_dir_all(&topology).unwrap();
        if !siblings.is_empty() {
            fs::write(topology.join("core_cpus_list"), format!("{siblings}\n")).unwrap();
        }
    }
    let locks = system.path().join("locks");
    fs::write(&locks, "").unwrap();
    Folder { system, locks }
}

/// A copy of the files of sysfs about processors, and a file of locks.
struct Folder {
    system: TempDir,
    locks: PathBuf,
}

impl Folder {
    fn machine(&self) -> Machine<'_> {
        Machine { system: self.system.path(), locks: &self.locks }
    }
}

fn claimed(folder: &Folder, allowed: &[u32], wanted: usize) -> Vec<u32> {
    let claims = claim_cores(folder.machine(), allowed, wanted).unwrap();
    claims.iter().map(super::processors::Claim::processor).collect()
}

#[test]
fn each_core_gets_a_rank_before_one_gets_two() {
    let neighbours = folder(&["0-1", "0-1", "2-3", "2-3"]);
    assert_eq!(claimed(&neighbours, &[0, 1, 2, 3], 2), [0, 2]);
    assert_eq!(claimed(&neighbours, &[0, 1, 2, 3], 3), [0, 2, 1]);
    assert_eq!(claimed(&neighbours, &[1, 2, 3], 2), [1, 2]);
    let halves = folder(&["0,2", "1,3", "0,2", "1,3"]);
    assert_eq!(claimed(&halves, &[0, 1, 2, 3], 4), [0, 1, 2, 3]);
    // If sysfs does not name cores, each processor counts as one.
    let unknown = folder(&["", ""]);
    assert_eq!(claimed(&unknown, &[0, 1], 2), [0, 1]);
}

#[test]
fn jobs_do_not_share_processors_while_others_are_free() {
    let cores = folder(&["0", "1", "2"]);
    let first = claim_cores(cores.machine(), &[0, 1, 2], 2).unwrap();
    assert_eq!(claimed(&cores, &[0, 1, 2], 1), [2]);
    assert_eq!(claimed(&cores, &[0, 1, 2], 2), [2]);
    drop(first);
    assert_eq!(claimed(&cores, &[0, 1, 2], 2), [0, 1]);
}

#[test]
fn a_list_is_compared_with_the_processors() {
    let Ok(allowed) = usable() else {
        return skipped("the system does not bind threads");
    };
    let bind = |list: &[u32], ranks| {
        let binding = Binding::new(&Bind::List(list.to_vec()), ranks)?;
        Ok::<_, BindingError>(binding.placement().expect("ranks that are bound"))
    };
    let (first, many) = (allowed[0], allowed.len() as u32);
    let short = BindingError::TooShort { ranks: 2, listed: 1 };
    assert_eq!(bind(&[first], 2), Err(short.clone()));
    assert_eq!(short.to_string(), "2 ranks are on this host, and the list gives processors for 1");
    let error = bind(&[first, 1023], 2).unwrap_err();
    if !allowed.contains(&1023) {
        assert!(error.to_string().contains("processor 1023"), "{error}");
    }
    // Entries beyond the ranks do not matter.
    let placement = bind(&[first, first, 1023], 2).unwrap();
    assert!(placement.is_crowded() && placement.fits(2) && !placement.fits(3));
    assert!(placement.is_sparse());
    assert!(!bind(&[first; 3], 3).unwrap().is_sparse());
    let placement = bind(&allowed, many).unwrap();
    assert!(!placement.is_crowded());
    let forbidden = BindingError::Forbidden { processor: 1, allowed: vec![0, 2, 3] };
    let text =
        "this process may not use processor 1, only 0,2-3 (taskset and control groups restrict it)";
    assert_eq!(forbidden.to_string(), text);
}

#[test]
fn threads_of_ranks_use_processors_without_ranks() {
    let placement = Placement::new(vec![0, 2], &[0, 1, 2, 3]);
    assert_eq!(placement.threads, [1, 3]);
    assert_eq!(Placement::new(vec![1, 0], &[0, 1]).threads, [0, 1]);
}

#[test]
fn a_thread_is_bound() {
    let Ok(allowed) = usable() else {
        return skipped("the system does not bind threads");
    };
    let placement = Placement::new(vec![*allowed.last().unwrap()], &allowed);
    std::thread::spawn(move || {
        let processor = placement.bind_rank(0).unwrap();
        let mask = sched_getaffinity(None).unwrap();
        assert!(mask.count() == 1 && mask.is_set(processor as usize));
        placement.bind_thread();
        let mask = sched_getaffinity(None).unwrap();
        assert_eq!(mask.count() as usize, placement.threads.len());
    })
    .join()
    .unwrap();
}

#[test]
fn ranks_that_do_not_fit_are_not_bound() {
    let ranks = num_processors() as u32 + 1;
    let binding = Binding::new(&Bind::Core, ranks).unwrap();
    assert_eq!(binding.processors(), Err(&Unbound::Shared));
    let binding = Binding::new(&Bind::None, 1).unwrap();
    assert_eq!(binding.processors(), Err(&Unbound::Requested));
    // Claims of other tests and jobs may leave too few processors.
    match Binding::new(&Bind::Core, 1).unwrap().processors() {
        Ok(processors) => assert_eq!(processors.len(), 1),
        Err(why) => skipped(&why.to_string()),
    }
}

/// Bytes of a device can be locked.
#[test]
fn processors_of_this_machine_can_be_claimed() {
    let Ok(allowed) = usable() else {
        return skipped("the system does not bind threads");
    };
    match try_claim(machine(), *allowed.last().unwrap()) {
        Err(error) => skipped(&error.to_string()),
        Ok(None) => skipped("another job holds the processor"),
        Ok(Some(claim)) => {
            let again = try_claim(machine(), claim.processor()).unwrap();
            assert!(again.is_none(), "claimed twice");
        }
    }
}
