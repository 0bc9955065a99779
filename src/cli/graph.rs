//! `aic graph`: pictures.

use std::path::PathBuf;

use clap::Args;

use super::check::{exit_code, report};
use super::options::compile;
use super::{Common, print_line, topo};
use crate::picture::{Drawing, fabric, rack, system};
use crate::project;
use crate::topology::DeviceGraph;

#[derive(Args)]
pub struct Arguments {
    /// A fabric, a rack, `racks`, a system or a host; without it all fabrics.
    what: Option<String>,
    /// The design; `cluster.aic`.
    file: Option<PathBuf>,
    /// The SVG file; without it the picture is printed.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<i32, String> {
    // `aic graph cluster.aic` means the design, not a thing in it.
    let named_file = arguments.what.as_ref().filter(|w| w.ends_with(".aic") && arguments.file.is_none()).map(PathBuf::from);
    let what = arguments.what.as_deref().filter(|_| named_file.is_none());
    let file = arguments.file.clone().or(named_file);
    let has_design = file.is_some() || std::path::Path::new("cluster.aic").is_file() || std::path::Path::new("aic.toml").is_file();
    let drawing = if has_design {
        let target = project::targets(file.as_deref())?.into_iter().next().ok_or("no design")?;
        let compilation = compile(&target, &arguments.common)?;
        let compilations = [(target, compilation)];
        let code = exit_code(&compilations, &arguments.common);
        if code != 0 {
            report(&compilations, &arguments.common)?;
            return Ok(code);
        }
        let c = &compilations[0].1;
        let fabrics = &c.design.fabrics;
        match what {
            None => Some(Drawing::stack((0..fabrics.len()).filter_map(|id| fabric::draw(c, id)).collect())),
            Some("racks") => Some(rack::draw_all(c)),
            Some(name) => fabrics
                .iter()
                .position(|f| f.name == name)
                .and_then(|id| fabric::draw(c, id))
                .or_else(|| c.design.racks.iter().position(|r| r.name == name).map(|id| rack::draw(c, id))),
        }
    } else {
        None
    };
    let drawing = match (drawing, what) {
        (Some(drawing), _) => drawing,
        (None, Some(name)) => {
            let found = topo::find(name, file.as_deref(), &arguments.common).map_err(|e| e.replace("no system or host", "no fabric, rack, system or host"))?;
            system::draw(&found, &DeviceGraph::new(&found))
        }
        (None, None) => return Err("there is no cluster.aic here; name a file".into()),
    };
    match &arguments.out {
        Some(path) => {
            std::fs::write(path, drawing.svg()).map_err(|e| format!("{}: {e}", path.display()))?;
            Ok(0)
        }
        None => print_line(drawing.svg().trim_end()),
    }
}
