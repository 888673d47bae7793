//! The allocator of the commands.
//!
//! It handles the exhaustion of memory: the process ends with a message and exit status 2, where
//! the standard library would abort. The limits on programs refuse most excessive requests by name.
//! The allocator handles the other requests, and machines with little memory. A command may also
//! ask for memory in huge pages. `unsafe`: the functions of an allocator are unsafe.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator for a command. The first request that the system refuses ends the
/// process, so `try_reserve` never fails.
#[derive(Debug)]
pub struct Allocator {
    /// The command's name, for the message.
    pub program: &'static str,
}

// SAFETY: every request goes to the system's allocator as it is, and so does what it returns; a
// null pointer is never returned.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of the system's allocator.
        let request = || unsafe { System.alloc(layout) };
        let memory = huge::or_in_small_steps(request(), request);
        huge::advise(memory, layout.size());
        self.some(memory, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let request = || unsafe { System.alloc_zeroed(layout) };
        let memory = huge::or_in_small_steps(request(), request);
        huge::advise(memory, layout.size());
        self.some(memory, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `alloc`.
        let request = || unsafe { System.realloc(memory, layout, size) };
        let memory = huge::or_in_small_steps(request(), request);
        huge::advise(memory, size);
        self.some(memory, size)
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

impl Allocator {
    #[inline]
    fn some(&self, memory: *mut u8, size: usize) -> *mut u8 {
        if memory.is_null() {
            self.exhausted(size)
        }
        memory
    }

    /// Ends the process at once, on any thread. It neither allocates nor takes a lock, and runs no
    /// destructors, because these might. Unfinished files have no name yet, or a temporary one.
    #[cold]
    fn exhausted(&self, size: usize) -> ! {
        let mut digits = [0; 20];
        let parts: [&[u8]; 4] = [
            self.program.as_bytes(),
            b": out of memory: the system refuses ",
            decimal(size, &mut digits),
            b" bytes more; give the process more (ulimit -v, the machine's memory), or a smaller program\n",
        ];
        let mut message = [0u8; 256];
        let mut length = 0;
        for part in parts {
            let part = &part[..part.len().min(message.len() - length)];
            message[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        // SAFETY: the bytes are those of `message`. Nothing else can be done if they can't be
        // written.
        unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), length) };
        // SAFETY: ends the process, without anything of it running on.
        unsafe { libc::_exit(2) }
    }
}

pub use huge::prefer_huge_pages;

/// Returns the bytes of the machine's memory, if the system tells them.
pub fn installed_bytes() -> Option<u64> {
    // SAFETY: asks for numbers only.
    let [pages, page] =
        unsafe { [libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)] };
    u64::try_from(pages).ok()?.checked_mul(u64::try_from(page).ok()?)
}

/// Memory in huge pages. A compiler fills hundreds of megabytes once, and a fault for each page of
/// 4 KiB takes a quarter of the time of one thread.
///
/// A huge page that the system has at hand costs a seventh of its 512 small ones. A huge page that
/// the system must make first costs seven times as much as the small ones. It gets the memory from
/// its host, if the machine is virtual and has returned free memory, or moves pages of other
/// processes together. So this module asks for huge pages one at a time, and stops after the first
/// slow one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod huge {
    use nix::time::{ClockId, clock_gettime};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// The least number of bytes by which the heap grows.
    const STEP: i32 = 64 << 20;
    /// Bytes of the heap that stay in small pages, so that a short command clears no huge page.
    const SMALL: usize = 4 << 20;
    /// The least bytes of a request that may lead to huge pages. Smaller requests are not looked at
    /// and stay cheap.
    const LOOK_MIN: usize = 16 << 10;
    /// The number of bytes from which on a request has a mapping of its own.
    const MAPPED_MIN: i32 = 32 << 20;
    /// The number of bytes behind a new block that are put in huge pages as well. This must happen
    /// before they are touched: a page can't become a huge one once a part of it is in use.
    const AHEAD: usize = 1 << 20;
    /// Bytes of a huge page.
    const PAGE: usize = 2 << 20;
    /// The processor time for a huge page from which on small pages are cheaper.
    const SLOW: Duration = Duration::from_micros(500);

    /// The end of the part of the heap that is in huge pages already, or stays in small ones.
    /// `usize::MAX` before [`prefer_huge_pages`] and after a slow page. Relaxed: it guards no data.
    static ADVISED: AtomicUsize = AtomicUsize::new(usize::MAX);

    /// From now on asks the system for huge pages for the heap. A system that grants no huge pages
    /// ignores this.
    pub fn prefer_huge_pages() {
        // SAFETY: these set numbers of the C library's allocator.
        unsafe {
            libc::mallopt(libc::M_TOP_PAD, STEP);
            libc::mallopt(libc::M_TRIM_THRESHOLD, 4 * STEP);
            libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_MIN);
        }
        ADVISED.store(heap_end().saturating_add(SMALL), Ordering::Relaxed);
    }

    /// Repeats a request for memory if the system refused it. From now on the heap grows in small
    /// steps, because only the large step may have been too much. A refused request has changed
    /// nothing.
    #[inline]
    pub(super) fn or_in_small_steps(memory: *mut u8, request: impl Fn() -> *mut u8) -> *mut u8 {
        if !memory.is_null() {
            return memory;
        }
        // SAFETY: sets a number of the C library's allocator.
        unsafe { libc::mallopt(libc::M_TOP_PAD, 0) };
        request()
    }

    /// Returns the end of the C library's heap.
    fn heap_end() -> usize {
        // SAFETY: moves the end by nothing, which only returns it.
        unsafe { libc::sbrk(0) as usize }
    }

    /// Asks for more huge pages if a new block ends behind the part of the heap up to [`ADVISED`],
    /// or near its end.
    #[inline]
    pub(super) fn advise(memory: *mut u8, size: usize) {
        let needed = memory as usize + size + AHEAD;
        if size >= LOOK_MIN && needed > ADVISED.load(Ordering::Relaxed) {
            advise_new(memory as usize, needed);
        }
    }

    #[cold]
    fn advise_new(memory: usize, needed: usize) {
        let heap = heap_end();
        if memory > heap {
            // A mapping of its own. Large tables are often sparse, and small pages keep them so.
            return;
        }
        let mut before = ADVISED.load(Ordering::Relaxed);
        while before < needed {
            let page = before.next_multiple_of(PAGE);
            let end = page + PAGE;
            if end > heap {
                return;
            }
            // Only the thread whose exchange succeeds asks for this page.
            match ADVISED.compare_exchange(before, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) if is_quick(page) => before = end,
                Ok(_) => return ADVISED.store(usize::MAX, Ordering::Relaxed),
                Err(other) => before = other,
            }
        }
    }

    /// Asks for the huge page at `start` and waits until the system has given it. Returns false if
    /// that took long, or if the system is too old to do it (Linux before 5.14). Time in which
    /// other threads had the processor does not count.
    fn is_quick(start: usize) -> bool {
        let used = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from);
        let begun = used();
        let ask = |advice| {
            // SAFETY: this chooses the size of the page and makes it present, whoever uses it: its
            // content stays. If the system refuses, nothing changes.
            unsafe { libc::madvise(start as *mut libc::c_void, PAGE, advice) == 0 }
        };
        let is_given = ask(libc::MADV_HUGEPAGE) && ask(libc::MADV_POPULATE_WRITE);
        let took = begun.and_then(|begun| Ok(used()?.saturating_sub(begun)));
        is_given && took.is_ok_and(|took| took < SLOW)
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod huge {
    /// Does nothing on this system.
    pub fn prefer_huge_pages() {}

    pub(super) fn advise(_memory: *mut u8, _size: usize) {}

    pub(super) fn or_in_small_steps(memory: *mut u8, _request: impl Fn() -> *mut u8) -> *mut u8 {
        memory
    }
}

/// Writes the decimal digits of a number at the end of `digits`, and returns these digits.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[start..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn numbers_are_written_without_allocating() {
        for number in [0, 7, 10, 1 << 20, usize::MAX] {
            assert_eq!(decimal(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
