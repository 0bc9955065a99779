//! `aic new`.

use std::path::Path;

/// The design that a new folder starts with: examples/starter.
const STARTER: &str = include_str!("../../examples/starter/cluster.aic");

/// Runs the command.
pub fn run(dir: &Path) -> Result<i32, String> {
    let file = dir.join("cluster.aic");
    if file.exists() {
        return Err(format!("{} exists already", file.display()));
    }
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))?;
    std::fs::write(&file, STARTER).map_err(|e| format!("{}: {e}", file.display()))?;
    super::print_line(&format!("{} is a small lab that builds: cd {} && aic build", file.display(), dir.display()))
}
