mod base; mod schema; mod syntax; mod lang;
fn main(){
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut map = base::SourceMap::default();
        let file = map.add(path.clone(), text.clone());
        let (tree, diags) = syntax::parse(file, &text);
        println!("{path}: {} items, {} diagnostics", tree.items.len(), diags.len());
        for d in diags { println!("  {} {:?} {:?} | {:?}", d.message, d.labels.iter().map(|l| (map.place(l.span), map.text(l.span).to_owned(), l.text.clone())).collect::<Vec<_>>(), d.help, 0); }
    }
}
