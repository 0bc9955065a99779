#![allow(dead_code)]
mod base; mod schema; mod syntax; mod lang; mod design; mod topology;
struct Disk(std::path::PathBuf);
impl base::Sources for Disk { fn read(&self, p:&str)->Option<String>{ std::fs::read_to_string(self.0.join(p)).ok() } }
struct No; impl lang::Attributes for No { fn attribute(&self,_:&str,_:usize,_:Option<(lang::Planned,u32)>,_:&str)->Option<lang::Attribute>{None} }
fn main(){
    let mut a = std::env::args().skip(1);
    let root = a.next().unwrap();
    let entry = a.next().unwrap_or("cluster.aic".into());
    let disk = Disk(root.clone().into());
    let t=std::time::Instant::now();
    let lang = lang::Lang::elaborate(&disk, &entry, lang::Options::default(), false);
    println!("{root} {entry}: {} hosts, {:?}", lang.objects_of("host").len(), t.elapsed());
    let d = design::build(&lang); println!("  {:?}", t.elapsed()); if std::env::var("D").is_ok() { println!("{}", serde_json::to_string_pretty(&d).unwrap()); }
    let tp = topology::Topology::plan(&d); println!("  {:?} {} switches {} links", t.elapsed(), tp.switches.len(), tp.links.len()); for (i,f) in tp.fabrics.iter().enumerate() { println!("  {} {:?} {:?} ratio {:?} hops {} free {} fault {:?} bis {:?}", d.fabrics[i].name, f.tiers.iter().map(|t| (t.0, t.2)).collect::<Vec<_>>(), f.cables, f.ratio, f.max_hops, f.ports_free, f.fault, f.bisection.map(base::quantity::to_f64)); } println!("  {:?} {:?} {}", tp.rack_faults, tp.address_faults, tp.addresses.len());
    let f = lang.finish(std::rc::Rc::new(No));
    for d in f.report.finish() { println!("  {} {} {:?} | {:?} | {:?}", d.code, d.message, d.labels.iter().map(|l| (f.map.place(l.span), f.map.text(l.span).chars().take(60).collect::<String>(), l.text.clone())).collect::<Vec<_>>(), d.help, d.notes); }
    println!("  {:?}", f.counters);
}
