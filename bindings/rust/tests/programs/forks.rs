//! Forked children of a rank, which are no ranks.
#![allow(unsafe_code)] // forks

use goal::{Arguments, CollectiveKind, ErrorCode, Group, Op, raw};

pub(crate) fn all(group: Group) {
    let own = group.buffer(&[group.rank()]).unwrap();
    let sum = group.zeros::<u32>(1).unwrap();
    let arguments = Arguments {
        kind: CollectiveKind::Allreduce,
        count: 1,
        op: Op::Sum,
        root: 0,
        input: Some(&own),
        output: Some(&sum),
    };
    let allreduce = group.collective(group.world(), &arguments).unwrap();
    let compiled = {
        let mut graph = raw::Graph::new(group.world());
        graph.allocate_scratch(4096);
        raw::Schedule::compile(&graph).unwrap()
    };
    let memory = group.allocate(64).unwrap();
    // SAFETY: the child makes calls that use nothing of its parent, and ends without destructors.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        let refused = |code: Option<ErrorCode>| code == Some(ErrorCode::Init);
        let code = |error: goal::Error| error.code();
        let all = [
            Group::is_fork(),
            refused(Group::init().err().map(code)),
            refused(Group::current().err().map(code)),
            refused(allreduce.run().err().map(code)),
            refused(own.read().err().map(code)),
            refused(sum.write().err().map(code)),
            refused(group.zeros::<u8>(1).err().map(code)),
            refused(group.allocate(64).err().map(code)),
            refused(group.free(memory.as_ptr() as usize).err().map(code)),
            refused(group.communicator(group.world(), &[0]).err().map(code)),
            refused(group.register(0, |_, _| ()).err().map(code)),
            refused(group.shrink(group.world()).err().map(code)),
            refused(group.finalize().err().map(code)),
            refused(compiled.free().err().map(|(error, _)| error.code())),
        ];
        drop((allreduce, own, sum));
        let wrong = all.iter().position(|&is_refused| !is_refused);
        // SAFETY: as above.
        unsafe { libc::_exit(wrong.map_or(0, |at| at as i32 + 1)) }
    }
    let mut status = -1;
    // SAFETY: the status is written to a variable of its own.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status >> 8, 0, "the number of what a child could do");
    assert_eq!(status, 0);
    compiled.free().unwrap();
    group.free(memory.as_ptr() as usize).unwrap();
    allreduce.run().unwrap().wait().unwrap();
    assert_eq!(sum.read().unwrap()[0], (0..group.size()).sum::<u32>());
}
