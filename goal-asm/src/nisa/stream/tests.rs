use crate::nisa::{
    EncodeOptions, Nisa, Outline, ReadAt, SectionStream, StreamError, StreamLimits, Streamed,
    VerifyError, encode, reseal,
};
use goal_lang::limits::Limits;
use goal_lang::{
    Action, BodyBuilder, Bytes, Payload, Piece, Placement, Program, ProgramBuilder, Space,
};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

fn encoded(program: &Program) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(program, &EncodeOptions::default(), None, &mut bytes).expect("the program fits");
    bytes
}

fn load(bytes: Vec<u8>) -> Result<Nisa, VerifyError> {
    let bytes: Bytes = Arc::new(bytes);
    Nisa::load(bytes, &Limits::default())
}

/// Streams every section of a file. Returns true if all of it is accepted.
fn streams(bytes: &[u8]) -> bool {
    let file: Arc<dyn ReadAt> = Arc::new(bytes.to_vec());
    let Ok(outline) = Outline::read(&*file, &Limits::default()) else { return false };
    let limits = StreamLimits { table_entries: 1 << 20, action_bytes: 1 << 20 };
    outline.sections.iter().all(|&place| {
        let Ok(mut stream) = SectionStream::new(Arc::clone(&file), place, limits) else {
            return false;
        };
        loop {
            match stream.next() {
                Ok(Some(Streamed { offset, chunk })) => {
                    drop(format!("{:?}", chunk.record(offset).operation()))
                }
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    })
}

/// Returns true if all dependencies point forward.
fn is_forward(nisa: &Nisa) -> bool {
    (0..nisa.num_sections()).all(|section| {
        nisa.section_by_id(section).records().all(|(offset, record)| {
            record
                .dependents
                .iter()
                .chain(record.start_dependents.iter())
                .all(|target| target > offset)
        })
    })
}

#[test]
fn streams_accept_what_the_verifier_does_where_dependencies_point_forward() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut counts = [0; 2];
    for seed in 0..goal_filetest::seeds(1_000) {
        let mut program = goal_smith::program(seed, &goal_smith::Shape::varied(seed));
        if seed % 4 > 0 {
            goal_opt::topological(&mut program, &goal_opt::Machine::default());
        }
        let mut bytes = encoded(&program);
        for changes in 0..4 {
            if changes > 0 {
                let at = random.usize(..bytes.len());
                bytes[at] =
                    if random.bool() { random.u8(..) } else { bytes[at] ^ 1 << random.u8(..8) };
                reseal(&mut bytes);
            }
            let wanted = load(bytes.clone()).is_ok_and(|nisa| is_forward(&nisa));
            assert_eq!(streams(&bytes), wanted, "seed {seed}, {changes} changes");
            counts[usize::from(wanted)] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 300), "{counts:?}");
}

#[test]
fn a_section_that_changes_while_it_is_read_is_told() {
    let mut body = BodyBuilder::default();
    let ids: Vec<_> = (0..20_000)
        .map(|nanos| body.action(Action::Calc { nanos, placement: Placement::default() }))
        .collect();
    ids.windows(2).for_each(|pair| body.requires(pair[1], pair[0]));
    let mut program = ProgramBuilder::default();
    program.rank_with(body.finish());
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&encoded(&program.finish())).expect("written");
    let file = Arc::new(file);
    let place = Outline::read(&*file, &Limits::default()).expect("right").place(0);
    let limits = StreamLimits { table_entries: 10, action_bytes: 1 << 20 };
    let mut stream = SectionStream::new(file.clone(), place, limits).expect("begins");
    // The nanoseconds of the last action: any number is allowed.
    file.write_all_at(&[99], place.start + u64::from(place.length) - 8).expect("written");
    let error = loop {
        match stream.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the change went by"),
            Err(error) => break error,
        }
    };
    assert_eq!(stream.reached(), 20_000);
    assert!(error.to_string().contains("changed since"), "{error}");
}

#[test]
fn an_action_is_read_up_to_its_limit() {
    let mut body = BodyBuilder::default();
    let pieces: Vec<Piece> =
        (0..10_000).map(|i| Piece { addr: 16 * i, size: 8, space: Space::Memory }).collect();
    let payload = Payload::Vector(body.pieces(&pieces));
    body.action(Action::Nop);
    body.action(Action::Send { payload, to: 0, tag: 0, placement: Placement::default() });
    let mut program = ProgramBuilder::default();
    program.rank_with(body.finish());
    let file: Arc<dyn ReadAt> = Arc::new(encoded(&program.finish()));
    let place = Outline::read(&*file, &Limits::default()).expect("right").place(0);
    let read = |action_bytes| {
        let limits = StreamLimits { table_entries: 10, action_bytes };
        let mut stream = SectionStream::new(Arc::clone(&file), place, limits)?;
        while stream.next()?.is_some() {}
        Ok(stream.reached())
    };
    assert!(matches!(read(100_000), Err(StreamError::LongAction { limit: 100_000, .. })));
    assert!(matches!(read(1 << 20), Ok(2)));
}

/// A sparse file with a part of this kind and of `length` bytes, without blocks in it.
fn sparse(kind: u32, length: u64) -> std::fs::File {
    let program = goal_smith::program(1, &goal_smith::Shape::varied(1));
    let mut bytes = encoded(&program);
    let nisa = load(bytes.clone()).expect("right");
    let table = 44 + 4 * nisa.num_ranks() as usize + 8 * nisa.num_sections() as usize;
    let code = u64::from_le_bytes(bytes[table + 4..table + 12].try_into().expect("8 bytes"));
    // Of the parts only the sections are kept.
    bytes.truncate(table + 12 + code as usize + 4);
    let at = bytes.len() as u64;
    bytes.extend_from_slice(&kind.to_le_bytes());
    bytes.extend_from_slice(&length.to_le_bytes());
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&bytes).expect("written");
    file.set_len(at + 12 + length + 4).expect("a sparse file");
    file
}

#[test]
fn lengths_in_a_file_allocate_nothing_before_they_are_checked() {
    const TERABYTE: u64 = 1 << 40;
    let error = |file| Outline::read(&file, &Limits::default()).expect_err("wrong").to_string();
    let of_memory = error(sparse(2, TERABYTE));
    assert!(
        of_memory
            .starts_with("a part of 1099511627776 bytes is to be held in memory, and the limit"),
        "{of_memory}"
    );
    let of_images = error(sparse(3, TERABYTE));
    assert!(
        of_images
            .contains("the limit in a window is 1073741824: run the schedule without a window"),
        "{of_images}"
    );
    let unknown = error(sparse(7, TERABYTE));
    assert!(unknown.contains("the part of kind 7 belongs to a later version"), "{unknown}");
    let twice = error(sparse(1, TERABYTE));
    assert!(twice.contains("the part of kind 0x1 comes too late, or twice"), "{twice}");
    // A part that is short enough is read, and its checksum is wrong.
    assert!(error(sparse(3, 1 << 20)).contains("the checksum is"));
}
