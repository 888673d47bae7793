//! Lets the program do something else while its calls wait for runs.
//!
//! A program may have work of its own that must go on meanwhile, as the progress of another
//! communication library. A thread that waits calls the program's function for it, and does not
//! sleep between two calls.

use crate::error::Result;
use crate::group::Group;
use crate::thread::IdleFunction;

impl Group {
    /// Sets the function that a thread calls again and again while it waits for a run in a call.
    /// The first call comes after about a microsecond. If several threads wait, one of them calls
    /// it. `None` removes the function. The function is called without a lock of this library. If
    /// it calls this library, it gets [`ErrorCode::Unsupported`](crate::ErrorCode::Unsupported).
    /// Only [`Group::abort`] works there. If it panics, the job ends.
    ///
    /// While there is a function, threads that wait do not sleep.
    ///
    /// # Errors
    /// The group is finalized, or a registered function calls this.
    pub fn set_idle(self, idle: Option<IdleFunction>) -> Result<()> {
        // The drop of a function is code of the program. So it happens without the engine lock.
        let replaced = self.shared().with(|core| Ok(std::mem::replace(&mut core.idle, idle)));
        replaced.map(drop)
    }
}
