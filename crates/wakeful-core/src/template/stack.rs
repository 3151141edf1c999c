//! A separate stack for the template engine, whose parser, compiler and syntax
//! tree recurse as deep as the template nests. A stack overflow ends the whole
//! process, so the stack must suffice for the worst possible template.

use std::thread;

use crate::Invalid;

/// Each level of nesting takes at least one character, so the longest template
/// has `MAX_TEMPLATE_LENGTH` levels. A level takes about 2 KiB in a debug
/// build, and less in a release build: about half of this in total. Only pages
/// that are touched take memory.
pub(super) const STACK_SIZE: usize = 64 << 20;

/// Runs `work` on its own thread and waits for it. A panic becomes an error.
pub(super) fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Invalid> {
    on_stack(STACK_SIZE, work)
}

pub(super) fn on_stack<T: Send>(
    size: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, Invalid> {
    let failed = || Invalid::new("cannot be processed by the template engine");
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("template".to_owned()).stack_size(size);
        let running = thread.spawn_scoped(scope, work).map_err(|_| failed())?;
        running.join().map_err(|_| failed())
    })
}
