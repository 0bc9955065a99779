//! The command line is parsed and one function is called.

/// Designs of 100,000 GPUs are millions of small pieces: a third of a check's time is the system's allocator, half as much is this one's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // Deep nesting is bounded by the parser; a large stack keeps recursion over what it lets through safe everywhere.
    let run = || std::process::exit(aic::cli::main());
    let thread = std::thread::Builder::new().stack_size(512 << 20).spawn(run);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => {}
        _ => std::process::exit(2),
    }
}
