//! What is made for other tools and for eyes: NetBox, Graphviz, containerlab, pictures.
#![allow(clippy::disallowed_methods, reason = "tests read the repository")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aic::Compilation;
use aic::export::{Format, files};
use aic::lang::Options;
use aic::picture::{Drawing, fabric, rack, system};
use aic::project::Disk;

fn atlas() -> Compilation {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/atlas");
    let c = aic::compile(&Disk { root }, "cluster.aic", Options::default());
    assert!(!c.has_errors());
    c
}

fn column<'a>(text: &'a str, names: &[&str]) -> Vec<Vec<&'a str>> {
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let places: Vec<usize> = names.iter().map(|n| header.iter().position(|h| h == n).unwrap()).collect();
    lines.map(|line| line.split(',').collect::<Vec<_>>()).map(|cells| places.iter().map(|p| cells[*p]).collect()).collect()
}

/// NetBox refuses a cable whose interface is not there, an interface whose device is not there, a device whose rack is not there.
#[test]
fn an_import_into_netbox_is_closed() {
    let c = atlas();
    let made = files(&c, Format::Netbox);
    let racks: BTreeSet<&str> = column(&made["1-racks.csv"], &["name"]).into_iter().flatten().collect();
    let devices = column(&made["2-devices.csv"], &["name", "rack"]);
    assert!(devices.iter().all(|d| racks.contains(d[1])));
    let names: BTreeSet<&str> = devices.iter().map(|d| d[0]).collect();
    assert_eq!(names.len(), devices.len(), "a name occurs once");
    let interfaces = column(&made["3-interfaces.csv"], &["device", "name", "type"]);
    assert!(interfaces.iter().all(|i| names.contains(i[0])));
    // NetBox has no type for a quarter of an OSFP cage.
    assert!(interfaces.iter().filter(|i| i[2] == "other").all(|i| i[0].starts_with("data-leaf")));
    let known: BTreeSet<(&str, &str)> = interfaces.iter().map(|i| (i[0], i[1])).collect();
    assert_eq!(known.len(), interfaces.len(), "an interface occurs once");
    let cables = column(&made["4-cables.csv"], &["side_a_device", "side_a_name", "side_b_device", "side_b_name"]);
    assert_eq!(cables.len(), c.topology.links.len());
    let mut used = BTreeSet::new();
    for cable in &cables {
        for end in [(cable[0], cable[1]), (cable[2], cable[3])] {
            assert!(known.contains(&end), "{end:?} is no interface");
            assert!(used.insert(end), "{end:?} has two cables");
        }
    }
}

#[test]
fn a_lab_has_both_ends_of_every_link() {
    let c = atlas();
    let lab: serde_json::Value = serde_saphyr::from_str(&files(&c, Format::Containerlab)["fabric.clab.yaml"]).unwrap();
    let nodes = lab["topology"]["nodes"].as_object().unwrap();
    let links = lab["topology"]["links"].as_array().unwrap();
    let data = c.design.fabrics.iter().position(|f| f.name == "data").unwrap();
    assert_eq!(links.len(), c.topology.links.iter().filter(|l| l.fabric as usize == data).count());
    let mut used = BTreeSet::new();
    for end in links.iter().flat_map(|l| l["endpoints"].as_array().unwrap()) {
        let end = end.as_str().unwrap();
        assert!(nodes.contains_key(end.split(':').next().unwrap()), "{end}");
        assert!(used.insert(end.to_owned()), "{end} twice");
    }
    let dot = &files(&c, Format::Dot)["fabrics.dot"];
    assert_eq!(dot.matches(" -- \"compute-spine-").count(), 8 * 4, "an edge a pair of leaf and spine");
}

fn attribute(line: &str, name: &str) -> Option<f64> {
    let from = line.find(&format!(" {name}=\""))? + name.len() + 3;
    line[from..].split('"').next()?.parse().ok()
}

/// Boxes lie inside the picture, and those of one level do not overlap.
fn sound(drawing: &Drawing) {
    let svg = drawing.svg();
    assert_eq!(svg, drawing.svg());
    assert!(!svg.contains("<script") && !svg.contains("NaN"));
    for tag in ["g", "text", "title"] {
        assert_eq!(svg.matches(&format!("<{tag}")).count(), svg.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

fn boxes(svg: &str) -> Vec<[f64; 4]> {
    let rects = svg.lines().filter_map(|l| l.find("<rect").map(|i| &l[i..])).filter(|l| !l.contains("ground") && !l.contains("none"));
    rects.map(|l| ["x", "y", "width", "height"].map(|n| attribute(l, n).unwrap())).collect()
}

#[test]
fn pictures_do_not_overlap() {
    let c = atlas();
    let host = &c.design.hosts[0];
    let mut drawings: Vec<Drawing> = (0..c.design.fabrics.len()).map(|id| fabric::draw(&c, id).unwrap()).collect();
    drawings.push(rack::draw(&c, 8));
    drawings.push(system::draw(&host.system, c.topology.graph(&host.system).unwrap()));
    for drawing in &drawings {
        sound(drawing);
        let boxes = boxes(&drawing.svg());
        assert!(!boxes.is_empty());
        for (i, a) in boxes.iter().enumerate() {
            assert!(a[0] >= 0.0 && a[1] >= 0.0 && a[0] + a[2] <= drawing.width && a[1] + a[3] <= drawing.height, "{a:?} leaves the picture");
            for b in &boxes[i + 1..] {
                let apart = a[0] + a[2] <= b[0] || b[0] + b[2] <= a[0] || a[1] + a[3] <= b[1] || b[1] + b[3] <= a[1];
                assert!(apart, "{a:?} and {b:?}");
            }
        }
    }
    sound(&rack::draw_all(&c));
}

/// docs/plan.md: a link belongs to one fabric, in its row of cables.csv and in the rows of both its ports.
#[test]
fn an_uplink_is_of_the_fabric_that_declares_it() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/atlas/");
    let mut project: BTreeMap<String, String> =
        ["cluster.aic", "hardware.aic"].iter().map(|f| ((*f).to_owned(), std::fs::read_to_string(format!("{root}{f}")).unwrap())).collect();
    let text = project.get_mut("cluster.aic").unwrap();
    assert!(text.contains("uplink { links = 2 }"));
    *text = text.replace("uplink { links = 2 }", "uplink { links = 2, fabric = data }");
    let c = aic::compile(&project, "cluster.aic", Options::default());
    assert!(!c.has_errors(), "{:?}", c.diagnostics.iter().map(|d| &d.message).collect::<Vec<_>>());
    let files = aic::bundle::texts(aic::bundle::render(aic::lower::lower(&c).unwrap(), &c), &c);
    let rows = |name: &str| files[name].lines().skip(1).map(|l| l.split(',').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>();
    let ports: BTreeMap<(String, String), String> = rows("network/ports.csv").into_iter().map(|r| ((r[0].clone(), r[2].clone()), r[4].clone())).collect();
    let mut between = 0;
    for row in rows("network/cables.csv") {
        let own = [(&row[3], &row[6]), (&row[7], &row[10])].map(|(device, port)| ports.get(&(device.clone(), port.clone())));
        own.iter().flatten().for_each(|fabric| assert_eq!(**fabric, row[1], "{row:?}"));
        between += usize::from(row[3].starts_with("oob-leaf") && row[7].starts_with("data-leaf"));
    }
    assert_eq!(between, 4);
}
