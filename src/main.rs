//! The command line is parsed and one function is called.

fn main() {
    // Deep nesting is bounded by the parser; a large stack keeps recursion over what it lets through safe everywhere.
    let run = || std::process::exit(aic::cli::main());
    let thread = std::thread::Builder::new().stack_size(512 << 20).spawn(run);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(())) => {}
        _ => std::process::exit(2),
    }
}
