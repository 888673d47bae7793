use super::*;
use crate::driver::{Emit, Error, Options, Ranks, Target, write_ranks};
use goal_asm::loggopsim;
use goal_check::check;
use goal_lang::diag::{Code, Severity};
use goal_lang::limits::Limits;
use goal_lang::{ANY, Action, Body, MemoryImage, Program, ProgramBuilder};
use goal_smith::Shape;
use std::fs;
use std::path::{Path, PathBuf};

/// The programs of a seed: with everything, with one outcome, and with competing messages.
fn programs(seed: u64) -> [Program; 3] {
    [
        goal_smith::program(seed, &Shape::default()),
        goal_smith::program(seed, &Shape::varied(seed)),
        goal_smith::tangle(seed),
    ]
}

/// Returns the errors that the checks find in a program.
fn errors(program: &Program) -> Vec<String> {
    goal_opt::verify(program).expect("a valid program");
    let found = check(program, None, &goal_check::Options::default()).diagnostics.into_iter();
    found.filter(|d| d.severity() == Severity::Error).map(|d| d.message).collect()
}

/// Returns true if a program has no error in any order of events. One that gets stuck in some
/// orders only has a warning, or an error if its ranks or tags have other numbers.
fn is_sound(program: &Program) -> bool {
    let of_some_orders = [Code::Deadlock, Code::Race, Code::CheckIncomplete];
    check(program, None, &goal_check::Options::default())
        .diagnostics
        .iter()
        .all(|found| found.severity() == Severity::Warning && !of_some_orders.contains(&found.code))
}

fn assert_sound(program: &Program, what: &str) {
    assert_eq!(errors(program), [""; 0], "{what}");
}

/// Puts a program together of ranks that are made one at a time.
fn collect(
    num_ranks: u32,
    mut rank: impl FnMut(u32) -> Result<(Body, Option<MemoryImage>), Error>,
) -> Program {
    let mut program = ProgramBuilder::default();
    for number in 0..num_ranks {
        let (body, image) = rank(number).expect("the rank is made");
        let body = program.body(body);
        let image = image.map(|image| program.image(image));
        program.rank(body, image);
    }
    program.finish()
}

fn sliced(ranks: Ranks, list: Option<&RankList>, window: Option<&Window>) -> Program {
    let mut slice = Slice::new(ranks, list, window).expect("a slice");
    collect(slice.num_ranks(), |rank| slice.rank(rank))
}

/// Some ranks of a program, in a random order.
fn some_ranks(program: &Program, random: &mut fastrand::Rng) -> RankList {
    let mut ranks: Vec<String> = (0..program.num_ranks()).map(|rank| rank.to_string()).collect();
    random.shuffle(&mut ranks);
    ranks.truncate(random.usize(1..=ranks.len()));
    ranks.join(",").parse().expect("a list")
}

/// A window that has an action of the program.
fn some_window(program: &Program, random: &mut fastrand::Rng) -> Option<Window> {
    let longest = program.bodies.iter().map(Body::len).max().filter(|&longest| longest > 0)?;
    let first = random.u64(0..longest as u64);
    Some(Window(first..first + random.u64(1..=longest as u64)))
}

#[test]
fn slices_of_sound_programs_are_sound() {
    let (mut sound, mut parts) = (0, 0);
    for seed in 0..goal_filetest::seeds(120) {
        for program in programs(seed) {
            if !is_sound(&program) {
                continue;
            }
            sound += 1;
            let random = &mut fastrand::Rng::with_seed(seed);
            let list = some_ranks(&program, random);
            let window = some_window(&program, random);
            let ranks = || Ranks::new("random", program.clone());
            let actions = |program: &Program| program.bodies.iter().map(Body::len).sum::<usize>();
            let part = sliced(ranks(), Some(&list), None);
            assert_sound(&part, &format!("seed {seed}: --ranks {list}"));
            let Some(window) = window else { continue };
            // A rank that stays may have no action in the window.
            if Slice::new(ranks(), Some(&list), Some(&window)).is_ok() {
                let part = sliced(ranks(), Some(&list), Some(&window));
                assert_sound(&part, &format!("seed {seed}: --ranks {list} --window {window:?}"));
            }
            let part = sliced(ranks(), None, Some(&window));
            assert_sound(&part, &format!("seed {seed}: --window {window:?}"));
            parts += usize::from(actions(&part) < actions(&program));
        }
    }
    assert!(parts > 80 && sound > 200, "{parts} parts of {sound} programs");
}

#[test]
fn a_slice_of_everything_is_the_program() {
    for seed in 0..goal_filetest::seeds(100) {
        for program in programs(seed) {
            if program.bodies.iter().all(Body::is_empty) {
                continue;
            }
            let all = Window(0..u64::MAX);
            let ranks = Ranks::new("random", program.clone());
            let again = sliced(ranks, None, Some(&all));
            for rank in 0..program.num_ranks() {
                assert!(again.body_of(rank).same_graph(program.body_of(rank)), "seed {seed}");
                assert_eq!(again.image_of(rank), program.image_of(rank), "seed {seed}");
            }
        }
    }
}

/// A program without initial and expected values, which only the ends of a sequence may have.
fn without_images(mut program: Program) -> Program {
    program.ranks.iter_mut().for_each(|entry| entry.image = None);
    program
}

fn takes_any(program: &Program) -> bool {
    let any = |action: &Action| matches!(action, Action::Recv { from: ANY, tag: ANY, .. });
    program.bodies.iter().flat_map(|body| &body.actions).any(any)
}

#[test]
fn sequences_of_sound_programs_are_sound() {
    let (mut sequences, mut refused) = (0, 0);
    for seed in 0..goal_filetest::seeds(120) {
        let first = programs(seed).map(without_images);
        let second = programs(seed + 1000).map(without_images);
        for (a, b) in first.into_iter().zip(second) {
            if !is_sound(&a) || !is_sound(&b) {
                continue;
            }
            let inputs = vec![Ranks::new("a", a.clone()), Ranks::new("b", b.clone())];
            let mut concat = match Concat::new(inputs) {
                Ok(concat) => concat,
                Err(error) => {
                    let has_large_tags = error.to_string().contains("more than 4294967294");
                    assert!(takes_any(&a) || has_large_tags, "seed {seed}: {error}");
                    refused += 1;
                    continue;
                }
            };
            let both = collect(concat.num_ranks(), |rank| concat.rank(rank));
            assert_sound(&both, &format!("seed {seed}"));
            sequences += 1;
        }
    }
    assert!(sequences > 120 && refused > 4, "{sequences} sequences, {refused} refused");
}

#[test]
fn merged_sound_programs_are_sound() {
    let (mut packed, mut shared) = (0, 0);
    for seed in 0..goal_filetest::seeds(120) {
        for (a, b) in programs(seed).into_iter().zip(programs(seed + 1000)) {
            if !is_sound(&a) || !is_sound(&b) {
                continue;
            }
            let inputs = || vec![Ranks::new("a", a.clone()), Ranks::new("b", b.clone())];
            let mut merge = Merge::new(inputs(), None, &Limits::default()).expect("packed");
            let both = collect(merge.num_ranks(), |host| merge.rank(host));
            assert_eq!(both.num_ranks(), a.num_ranks() + b.num_ranks());
            assert_sound(&both, &format!("seed {seed}"));
            packed += 1;
            let random = &mut fastrand::Rng::with_seed(seed);
            let mut hosts = |program: &Program| {
                let mut hosts: Vec<u32> = (0..program.num_ranks() + 1).collect();
                random.shuffle(&mut hosts);
                hosts.truncate(program.num_ranks() as usize);
                hosts.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
            };
            let text = format!("a:{},b:{}", hosts(&a), hosts(&b));
            let placements = Placements::parse(&text).expect("placements");
            // Programs with large tags can't share a host, or programs that use memory or receive
            // with any tag.
            let merge = Merge::new(inputs(), Some(&placements), &Limits::default());
            let Ok(mut merge) = merge else { continue };
            let ranks = (0..merge.num_ranks()).map(|host| merge.rank(host));
            let Ok(ranks) = ranks.collect::<Result<Vec<_>, _>>() else { continue };
            let both = collect(merge.num_ranks(), |host| Ok(ranks[host as usize].clone()));
            assert_sound(&both, &format!("seed {seed}: {text}"));
            shared += 1;
        }
    }
    assert!(packed > 200 && shared > 20, "{packed} packed, {shared} shared");
}

/// Writes a program as a LogGOPSim binary.
fn binary(folder: &Path, name: &str, program: &Program) -> PathBuf {
    let path = folder.join(name);
    let mut bytes = Vec::new();
    loggopsim::write(program, &mut bytes).expect("written");
    fs::write(&path, bytes).expect("written");
    path
}

/// Writes a result to a file as it is made, and from memory. Both must be equal.
fn write_both<T>(
    folder: &Path,
    mut make: impl FnMut() -> T,
    num_ranks: impl Fn(&T) -> u32,
    mut rank: impl FnMut(&mut T, u32) -> Result<(Body, Option<MemoryImage>), Error>,
) {
    let [streamed, held] = [true, false].map(|is_streamed| {
        let path = folder.join("out.bin");
        let (mut made, options) = (make(), Options::default());
        let size = (num_ranks(&made), is_streamed);
        let target = Target::new(&path);
        write_ranks(&target, Emit::Loggopsim, &options, size, |number| rank(&mut made, number))
            .expect("written");
        fs::read(path).expect("there")
    });
    assert!(streamed == held);
}

#[test]
fn results_that_are_written_as_they_are_made_equal_those_from_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options::default();
    for seed in 0..goal_filetest::seeds(60) {
        for (a, b) in programs(seed).into_iter().zip(programs(seed + 1000)) {
            let paths = [("a.bin", &a), ("b.bin", &b)]
                .map(|(name, program)| binary(folder.path(), name, program));
            let open = |path: &PathBuf| Ranks::open(std::slice::from_ref(path), &options);
            let open = |path: &PathBuf| open(path).expect("a binary");
            let random = &mut fastrand::Rng::with_seed(seed);
            let (list, window) = (some_ranks(&a, random), some_window(&a, random));
            assert!(open(&paths[0]).is_streamed());
            // A program with wildcards may get stuck, and a window may be empty.
            let slice = || Slice::new(open(&paths[0]), Some(&list), window.as_ref());
            if slice().is_ok() {
                let slice = || slice().expect("a slice");
                write_both(folder.path(), slice, Slice::num_ranks, Slice::rank);
            }
            let inputs = || paths.iter().map(open).collect::<Vec<_>>();
            if Concat::new(inputs()).is_ok() {
                let concat = || Concat::new(inputs()).expect("a sequence");
                write_both(folder.path(), concat, Concat::num_ranks, Concat::rank);
            }
            let merge = || Merge::new(inputs(), None, &Limits::default()).expect("packed");
            write_both(folder.path(), merge, Merge::num_ranks, Merge::rank);
        }
    }
}

#[test]
fn a_streamed_slice_is_that_of_the_program_in_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options::default();
    for seed in 0..goal_filetest::seeds(100) {
        for program in programs(seed) {
            let path = binary(folder.path(), "a.bin", &program);
            let bytes = fs::read(&path).expect("there");
            let program = loggopsim::read(&bytes, &Limits::default()).expect("read");
            let random = &mut fastrand::Rng::with_seed(seed);
            let (list, window) = (some_ranks(&program, random), some_window(&program, random));
            let open = || Ranks::open(std::slice::from_ref(&path), &options).expect("a binary");
            if Slice::new(open(), Some(&list), window.as_ref()).is_err() {
                continue;
            }
            let of_file = sliced(open(), Some(&list), window.as_ref());
            let of_memory = sliced(Ranks::new("a", program), Some(&list), window.as_ref());
            assert!(loggopsim::are_same(&of_file, &of_memory) || same(&of_file, &of_memory));
        }
    }
}

fn same(left: &Program, right: &Program) -> bool {
    left.num_ranks() == right.num_ranks()
        && (0..left.num_ranks()).all(|rank| {
            let (left, right) = (left.body_of(rank), right.body_of(rank));
            left.same_graph(right) && left.debug.order == right.debug.order
        })
}

#[test]
fn lists_and_windows_are_parsed_or_refused() {
    let list: RankList = "3,0-1".parse().expect("a list");
    assert_eq!(list.ranks().collect::<Vec<_>>(), [3, 0, 1]);
    assert_eq!((list.len(), list.highest(), list.repeated()), (3, 3, None));
    let list: RankList = "0-4294967294".parse().expect("a list that is not expanded");
    assert_eq!(list.len(), (1 << 32) - 1);
    for text in ["", "1,", "-1", "1-", "4294967295", "1-2-3", "1 2", "x"] {
        assert!(matches!(text.parse::<RankList>(), Err(NumbersError::Ranks(_))), "{text}");
    }
    assert_eq!("2-1".parse::<RankList>(), Err(NumbersError::Reversed(2, 1)));
    assert_eq!("1-5,3".parse::<RankList>().expect("a list").repeated(), Some(3));
    assert_eq!("..7".parse(), Ok(Window(0..7)));
    assert_eq!("7..".parse(), Ok(Window(7..u64::MAX)));
    for text in ["", "7", "7..7", "8..7", "-1..7", "a..b", "1..2..3"] {
        assert!(text.parse::<Window>().is_err(), "{text}");
    }
}
