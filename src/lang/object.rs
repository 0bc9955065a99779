//! Declarations to objects: counts, models, bodies; products with the fields of their models; the devices of systems.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use super::entity::{Entity, ObjectId};
use super::value::{Declaration, DeviceEntry, Entry, Env, FrameKind, Node, Product, SystemParts, Value};
use super::{Lang, suggest};
use crate::base::{Diagnostic, Span};
use crate::schema::{self, Model, Models, Shape, Type};
use crate::syntax::ast::{Block, Item, ItemKind, Name};

/// An element of a declaration.
#[derive(Debug)]
pub struct Object {
    /// Its number.
    pub id: ObjectId,
    /// Its kind.
    pub shape: &'static Shape,
    /// Its name without the index.
    pub name: Rc<str>,
    /// Its path in the language: `train[0].h100[1]`.
    pub path: String,
    /// Its Kubernetes name: `train-0-h100-1`.
    pub hyphenated: String,
    /// Its position, if it is one of an array.
    pub index: Option<i64>,
    /// The declaration around it.
    pub parent: Option<ObjectId>,
    /// The model of a choice.
    pub model: Option<&'static Model>,
    /// The product that is its model.
    pub product: Option<Rc<Product>>,
    /// Its head.
    pub head: Span,
    /// The whole declaration.
    pub whole: Span,
    /// Its documentation.
    pub docs: Rc<[String]>,
    /// Whether its head is faulty.
    pub broken: bool,
    block: Rc<Block>,
    env: Env,
    node: OnceCell<Rc<Node>>,
    busy: Cell<bool>,
}

impl Object {
    /// Its body, if it has been read.
    pub fn built(&self) -> Option<Rc<Node>> {
        self.node.get().cloned()
    }

    /// `workload.llama`, `rack.train[0]`, `control_plane`: how provenance names it.
    pub fn source(&self) -> String {
        if *self.name == *self.shape.name { self.shape.name.to_owned() } else { format!("{}.{}", self.shape.name, self.path) }
    }
}

/// A link of a system, its ends as devices.
#[derive(Debug)]
pub struct LinkValue {
    /// One end of each.
    pub a: Vec<u16>,
    /// The other.
    pub b: Vec<u16>,
    /// `pcie`, `smp`, `nvlink`…
    pub medium: &'static str,
    /// Its settings.
    pub node: Rc<Node>,
    /// Its place.
    pub span: Span,
}

impl Lang<'_> {
    /// The object of that number.
    pub fn object(&self, id: ObjectId) -> Rc<Object> {
        self.objects.borrow()[id.0 as usize].clone()
    }

    /// The elements of a declaration, made once.
    pub fn elements(&self, declaration: &Rc<Declaration>) -> Rc<Vec<ObjectId>> {
        if let Some(elements) = &*declaration.elements.borrow() {
            return elements.clone();
        }
        if declaration.busy.replace(true) {
            self.cycle(&declaration.name, declaration.block.head);
            return Rc::default();
        }
        self.calls.borrow_mut().push(declaration.block.head);
        let elements = Rc::new(self.make_elements(declaration));
        self.calls.borrow_mut().pop();
        declaration.busy.set(false);
        *declaration.elements.borrow_mut() = Some(elements.clone());
        elements
    }

    fn make_elements(&self, declaration: &Rc<Declaration>) -> Vec<ObjectId> {
        let block = &declaration.block;
        let count = match &block.count {
            Some(count) => match self.count(count, &declaration.env) {
                Some(count) => Some(count),
                None => return Vec::new(),
            },
            None => None,
        };
        // A hundred thousand GPUs are some twenty thousand objects; far beyond that a count is a slip of the pen.
        if self.objects.borrow().len() as i64 + count.unwrap_or(1) > 250_000 {
            self.error(
                Diagnostic::error("AIC0208", format!("with {} the design has more than 250,000 declarations", declaration.name))
                    .at(block.head, "one too many")
                    .help("smaller counts"),
            );
            return Vec::new();
        }
        let shape = declaration.shape;
        let (mut model, mut product, mut broken) = (None, None, false);
        match shape.models {
            Models::Product(kind, required) => match self.product_model(block, kind, &declaration.env) {
                Ok(found) => {
                    broken = found.is_none() && required;
                    if broken {
                        self.error(
                            Diagnostic::error("AIC0113", format!("{} {} has no model", shape.name, declaration.name))
                                .at(block.head, "here")
                                .help(format!("`{} {} : {kind}` with a {kind} of std or of your own", shape.name, declaration.name)),
                        );
                    }
                    product = found;
                }
                Err(()) => broken = true,
            },
            _ => {
                let name = block.model.as_ref().and_then(|m| m.last());
                match self.choose_model(shape, name, block.head, &format!("{}.{}", shape.name, declaration.name)) {
                    Ok(found) => model = found,
                    Err(()) => broken = true,
                }
            }
        }
        let parent = declaration.parent.map(|id| self.object(id));
        let docs: Rc<[String]> = declaration.docs.clone().into();
        let whole = block.body.as_ref().map_or(block.head, |body| block.head.to(body.span));
        (0..count.unwrap_or(1))
            .map(|i| {
                let index = count.map(|_| i);
                let own = index.map_or(declaration.name.to_string(), |i| format!("{}[{i}]", declaration.name));
                let own_hyphen = index.map_or(declaration.name.to_string(), |i| format!("{}-{i}", declaration.name));
                let (path, hyphenated) = match &parent {
                    Some(parent) => (format!("{}.{own}", parent.path), format!("{}-{own_hyphen}", parent.hyphenated)),
                    None => (own, own_hyphen),
                };
                let id = ObjectId(self.objects.borrow().len() as u32);
                let env = declaration.env.with(FrameKind::Element { index, object: Some(id), parent: declaration.parent });
                self.objects.borrow_mut().push(Rc::new(Object {
                    id,
                    shape,
                    name: declaration.name.clone(),
                    path,
                    hyphenated: crate::base::names::kubernetes_name(&hyphenated),
                    index,
                    parent: declaration.parent,
                    model,
                    product: product.clone(),
                    head: block.head,
                    whole,
                    docs: docs.clone(),
                    broken,
                    block: block.clone(),
                    env,
                    node: OnceCell::new(),
                    busy: Cell::new(false),
                }));
                id
            })
            .collect()
    }

    /// The body of an object, sorted once.
    pub fn node_of(&self, id: ObjectId) -> Rc<Node> {
        let object = self.object(id);
        if let Some(node) = object.node.get() {
            return node.clone();
        }
        object.busy.set(true);
        let mut entries = Vec::new();
        // A rack-scale system brings its hosts and switches into the rack.
        if let (Some(product), "rack") = (&object.product, object.shape.name)
            && let Some(parts) = &product.parts
        {
            for entry in &parts.borrow().inner {
                let env = rebase(&entry.env, &object.env);
                entries.push(Entry { env, ..entry.clone() });
            }
        }
        if let Some(body) = &object.block.body {
            self.flatten(&body.items, &object.env, &mut 1, false, &mut entries);
        }
        if object.broken {
            // The head is faulty: what the model would hold is unknown, so nothing of it is judged.
            entries.clear();
        }
        let path = format!("{}.{}", object.shape.name, object.path);
        let path = if *object.name == *object.shape.name { object.shape.name.to_owned() } else { path };
        let empty = Node::empty(object.shape, object.head, path);
        let node = if object.broken { Rc::new(Node { broken: true, ..empty }) } else { self.node(Node { model: object.model, ..empty }, Some(id), &entries) };
        object.busy.set(false);
        let _ = object.node.set(node.clone());
        node
    }

    /// The declaration of that name inside an object, if its body can be read now.
    pub fn child_named(&self, id: ObjectId, name: &str) -> Option<Rc<Declaration>> {
        let object = self.object(id);
        if object.busy.get() || object.shape.children.is_empty() {
            return None;
        }
        self.node_of(id).children.iter().find(|c| &*c.name == name).cloned()
    }

    /// The product that a head names as its model.
    fn product_model(&self, block: &Block, kind: &'static str, env: &Env) -> Result<Option<Rc<Product>>, ()> {
        let Some(model) = &block.model else { return Ok(None) };
        self.resolve_product(model, kind, env).map(Some)
    }

    fn resolve_product(&self, path: &[Name], kind: &'static str, env: &Env) -> Result<Rc<Product>, ()> {
        use crate::syntax::ast::{Expr, ExprKind};
        let mut names = path.iter();
        let first = names.next().ok_or(())?;
        let mut expr = Expr { span: first.span, kind: Rc::new(ExprKind::Name(first.text.clone())) };
        for name in names {
            expr = Expr { span: expr.span.to(name.span), kind: Rc::new(ExprKind::Member(expr, name.clone())) };
        }
        match self.checked(&expr, env, &Type::Product(kind)) {
            Value::Product(product) => Ok(product),
            _ => Err(()),
        }
    }

    /// The product of a declaration, made once.
    pub fn product_of(&self, declaration: &Rc<Declaration>) -> Value {
        if let Some(product) = &*declaration.product.borrow() {
            return product.clone();
        }
        if declaration.busy.replace(true) {
            self.cycle(&declaration.name, declaration.block.head);
            return Value::Poison;
        }
        self.calls.borrow_mut().push(declaration.block.head);
        let value = self.make_declared_product(declaration);
        self.calls.borrow_mut().pop();
        declaration.busy.set(false);
        *declaration.product.borrow_mut() = Some(value.clone());
        value
    }

    fn make_declared_product(&self, declaration: &Declaration) -> Value {
        let block = &declaration.block;
        let kind = declaration.shape;
        if let Some(count) = &block.count {
            self.error(
                Diagnostic::error("AIC0113", format!("the {} {} is a product; it has no count here", kind.name, declaration.name))
                    .at(count.span, "a count")
                    .help("the count stands where it is used: `host gpu[4] : product`"),
            );
        }
        let mut layers = match self.product_model(block, kind.name, &declaration.env) {
            Ok(Some(base)) => base.layers.clone(),
            Ok(None) => Vec::new(),
            Err(()) => return Value::Poison,
        };
        let items = block.body.as_ref().map_or_else(|| Rc::from([]), |b| b.items.clone());
        layers.push((items, declaration.env.clone()));
        Value::Product(self.make_product(kind, declaration.name.clone(), block.head, declaration.docs.clone(), layers))
    }

    fn make_product(&self, kind: &'static Shape, name: Rc<str>, span: Span, docs: Vec<String>, layers: Vec<(Rc<[Item]>, Env)>) -> Rc<Product> {
        let parts = (kind.name == "system").then(|| Rc::new(RefCell::new(SystemParts { name: name.clone(), ..SystemParts::default() })));
        let mut entries = Vec::new();
        let mut layer = 0;
        for (items, env) in &layers {
            let env = match &parts {
                Some(parts) => env.with(FrameKind::System(parts.clone())),
                None => env.clone(),
            };
            self.flatten(items, &env, &mut layer, false, &mut entries);
            layer += 1;
        }
        if let Some(parts) = &parts {
            self.read_devices(parts, &entries);
        }
        let path = format!("{}.{name}", kind.name);
        let node = self.node(Node::empty(kind, span, path), None, &entries);
        Rc::new(Product { kind, name, span, docs, layers, node, parts })
    }

    fn read_devices(&self, parts: &Rc<RefCell<SystemParts>>, entries: &[Entry]) {
        // A device of a later layer replaces the one of that name, in its place.
        let mut blocks: Vec<(Rc<str>, Rc<Block>, Entry)> = Vec::new();
        for entry in entries {
            let ItemKind::Block(block) = &entry.item().kind else {
                if matches!(entry.item().kind, ItemKind::Link { .. }) {
                    parts.borrow_mut().links.push(entry.clone());
                }
                continue;
            };
            let word = &*block.kind.text;
            if matches!(word, "host" | "switch") {
                parts.borrow_mut().inner.push(entry.clone());
                continue;
            }
            if !schema::kind("system").is_some_and(|s| s.children.contains(&word)) {
                continue;
            }
            let name = block.label.as_ref().map_or(&block.kind.text, |l| &l.text).clone();
            match blocks.iter_mut().find(|(n, ..)| *n == name) {
                Some(before) if before.2.layer != entry.layer => *before = (name, block.clone(), entry.clone()),
                Some(before) => self.error(
                    Diagnostic::error("AIC0102", format!("the device {name} is declared twice"))
                        .at(block.head, "again here")
                        .at(before.1.head, "first here")
                        .help("give one of them another name, or a count"),
                ),
                None => blocks.push((name, block.clone(), entry.clone())),
            }
        }
        let mut first = 0_u16;
        let mut counts = Vec::new();
        for (name, block, entry) in &blocks {
            let count = block.count.as_ref().map_or(Some(1), |c| self.count(c, &entry.env)).unwrap_or(0).min(1024) as u16;
            counts.push(count);
            parts.borrow_mut().names.insert(name.clone(), (first, count, block.count.is_some()));
            first = first.saturating_add(count);
        }
        for ((name, block, entry), count) in blocks.iter().zip(counts) {
            for index in 0..count {
                let device = self.read_device(name, block, entry, block.count.is_some().then_some(index));
                parts.borrow_mut().devices.push(device);
            }
        }
    }

    fn read_device(&self, name: &Rc<str>, block: &Rc<Block>, entry: &Entry, index: Option<u16>) -> DeviceEntry {
        let kind = schema::kind(&block.kind.text).map_or("device", |k| k.name);
        let env = entry.env.with(FrameKind::Element { index: index.map(i64::from), object: None, parent: None });
        let items: Rc<[Item]> = block.body.as_ref().map_or_else(|| Rc::from([]), |b| b.items.clone());
        let empty = |shape| Node::empty(shape, block.head, format!("{kind}.{name}"));
        if !schema::PRODUCTS.contains(&kind) {
            let shape = schema::DEVICE_KINDS.iter().find(|s| s.name == kind).copied().unwrap_or(schema::LINK);
            let mut entries = Vec::new();
            self.flatten(&items, &env, &mut 0, false, &mut entries);
            let node = self.node(empty(shape), None, &entries);
            return DeviceEntry { name: name.clone(), index, kind, product: None, node };
        }
        let shape = schema::kind(kind).expect("products are kinds");
        let product = match self.product_model(block, shape.name, &entry.env) {
            Ok(Some(base)) if items.is_empty() => Some(base),
            Ok(base) => {
                let known = base.is_some() || !items.is_empty();
                let mut layers = base.as_ref().map_or_else(Vec::new, |b| b.layers.clone());
                layers.push((items, env));
                let product_name = base.as_ref().map_or_else(|| name.clone(), |b| b.name.clone());
                if !known {
                    self.error(
                        Diagnostic::error("AIC0113", format!("the {kind} {name} has no model"))
                            .at(block.head, "here")
                            .help(format!("`{kind} {name} : product`")),
                    );
                }
                known.then(|| self.make_product(shape, product_name, block.head, Vec::new(), layers))
            }
            Err(()) => None,
        };
        let node = product.as_ref().map_or_else(|| Rc::new(Node { broken: true, ..empty(shape) }), |p| p.node.clone());
        DeviceEntry { name: name.clone(), index, kind, product, node }
    }

    /// The links of a system, its ends found.
    pub fn links_of(&self, product: &Product) -> Vec<LinkValue> {
        let Some(parts) = &product.parts else { return Vec::new() };
        let links = parts.borrow().links.clone();
        let rack_scale = !parts.borrow().inner.is_empty();
        let mut out = Vec::new();
        for entry in links {
            let ItemKind::Link { a, b, medium, body } = &entry.item().kind else { continue };
            let Some(medium_name) = schema::MEDIA.iter().find(|m| ***m == *medium.text) else {
                self.error(suggest(
                    Diagnostic::error("AIC0206", format!("there is no link medium `{}`", medium.text)).at(medium.span, "here"),
                    medium.span,
                    &medium.text,
                    schema::MEDIA,
                ));
                continue;
            };
            let entries = self.entries(body.as_ref(), &entry.env);
            let node = self.node(Node::empty(schema::LINK, entry.item().span, format!("link.{medium_name}")), None, &entries);
            // The links of a rack-scale system join hosts to switches: they make its NVLink domain and have no device ends.
            let (a, b) = if rack_scale { (Vec::new(), Vec::new()) } else { (self.link_end(a, &entry.env), self.link_end(b, &entry.env)) };
            out.push(LinkValue { a, b, medium: medium_name, node, span: entry.item().span });
        }
        out
    }

    fn link_end(&self, expr: &crate::syntax::ast::Expr, env: &Env) -> Vec<u16> {
        let value = self.eval(expr, env, None);
        let list = match &value {
            Value::List(list) => list.to_vec(),
            Value::Poison => return Vec::new(),
            one => vec![one.clone()],
        };
        let mut out = Vec::new();
        for value in list {
            match value {
                Value::Selection(selection) => {
                    for entity in selection.flat() {
                        match entity {
                            Entity::Own(device) => out.push(device),
                            _ => {
                                self.error(
                                    Diagnostic::error("AIC0202", "a link joins devices of its system")
                                        .at(expr.span, "not a device of it")
                                        .help("name a `cpu`, `gpu`, `nic`, `disk`, `bridge` or `nvswitch` of the system"),
                                );
                                return Vec::new();
                            }
                        }
                    }
                }
                value if value.is_quiet() => {}
                other => self.error(
                    Diagnostic::error("AIC0202", format!("a link joins devices, not {}", other.phrase()))
                        .at(expr.span, "here")
                        .help("name devices of the system"),
                ),
            }
        }
        out
    }

    /// How many ports a NIC of a host has.
    pub fn port_count(&self, host: ObjectId, device: u16) -> u8 {
        self.device(host, device, |d| {
            d.product.as_ref().map_or(0, |p| p.node.groups_named("port").map(|g| g.count.unwrap_or(1)).sum::<i64>().clamp(0, 64) as u8)
        })
        .unwrap_or(0)
    }

    /// Something of a device of a host.
    pub fn device<T>(&self, host: ObjectId, device: u16, read: impl FnOnce(&DeviceEntry) -> T) -> Option<T> {
        let object = self.object(host);
        let parts = object.product.as_ref()?.parts.as_ref()?.borrow();
        parts.devices.get(device as usize).map(read)
    }

    /// `host`, `nic`, `fabric`…
    pub fn entity_kind(&self, entity: Entity) -> &'static str {
        match entity {
            Entity::Object(id) => self.object(id).shape.name,
            Entity::Device(host, device) => self.device(host, device, |d| d.kind).unwrap_or("device"),
            Entity::Port(..) => "port",
            // The only things that name devices of their own system are cages and links, which take NICs.
            Entity::Own(_) => "nic",
            Entity::Part(id, part) => self.node_of(id).groups.get(part as usize).map_or("part", |(name, _)| name),
            Entity::Planned(_, super::Planned::Domain, _) => "domain",
            Entity::Planned(..) => "switch",
        }
    }

    /// How a message and a hole call it.
    pub fn entity_name(&self, entity: Entity) -> String {
        let device = |host, device: u16| self.device(host, device, |d| d.index.map_or(d.name.to_string(), |i| format!("{}[{i}]", d.name))).unwrap_or_default();
        match entity {
            Entity::Object(id) => self.object(id).hyphenated.clone(),
            Entity::Device(host, d) => format!("{}.{}", self.object(host).path, device(host, d)),
            Entity::Port(host, d, port) => format!("{}.{}.port[{port}]", self.object(host).path, device(host, d)),
            Entity::Own(d) => format!("device {d}"),
            Entity::Part(id, part) => {
                let label = self.node_of(id).groups.get(part as usize).and_then(|(_, n)| n.label.clone());
                format!("{}.{}", self.object(id).path, label.as_deref().unwrap_or("part"))
            }
            Entity::Planned(id, what, n) => format!("{} {what:?} {n}", self.object(id).path),
        }
    }
}

/// The scope of a rack-scale system's item, seen from a rack: `index` and `parent` are the rack's.
fn rebase(inner: &Env, rack: &Env) -> Env {
    let own: Vec<&FrameKind> = rack.frames().take_while(|f| !matches!(f, FrameKind::Module(_))).collect();
    let mut env = inner.clone();
    for frame in own.into_iter().rev() {
        if let FrameKind::Element { index, object, parent } = frame {
            env = env.with(FrameKind::Element { index: *index, object: *object, parent: *parent });
        }
    }
    env
}
