//! Typed fields of one node.

use super::*;

/// Reads the typed fields of one node.
pub(super) struct Reader<'a, 'l> {
    pub lang: &'a Lang<'l>,
    pub node: Rc<Node>,
    pub sound: &'a Cell<bool>,
}

impl Reader<'_, '_> {
    pub fn value(&self, name: &str) -> Option<Value> {
        let value = self.lang.field(&self.node, name);
        match &value {
            Some(Value::Poison) => {
                self.sound.set(false);
                None
            }
            Some(Value::Unknown) => None,
            _ => value,
        }
    }

    pub fn int_opt(&self, name: &str) -> Option<i64> {
        if let Some(Value::Int(n)) = self.value(name) { Some(n) } else { None }
    }

    pub fn int(&self, name: &str) -> i64 {
        self.int_opt(name).unwrap_or_default()
    }

    pub fn bool_opt(&self, name: &str) -> Option<bool> {
        if let Some(Value::Bool(b)) = self.value(name) { Some(b) } else { None }
    }

    pub fn bool(&self, name: &str) -> bool {
        self.bool_opt(name).unwrap_or_default()
    }

    pub fn text_opt(&self, name: &str) -> Option<String> {
        match self.value(name)? {
            Value::Text(s) | Value::Word(s) => Some(s.to_string()),
            _ => None,
        }
    }

    pub fn text(&self, name: &str) -> String {
        self.text_opt(name).unwrap_or_default()
    }

    /// The word of a closed set.
    pub fn word_opt<W: Word>(&self, name: &str) -> Option<W> {
        if let Value::Word(word) = self.value(name)? { W::parse(&word) } else { None }
    }

    /// The word of a closed set; the default of the schema stands where nothing is written.
    pub fn word<W: Word>(&self, name: &str) -> W {
        self.word_opt(name).unwrap_or_default()
    }

    /// Words of a closed set.
    pub fn words<W: Word>(&self, name: &str) -> Vec<W> {
        self.list(name).iter().filter_map(|v| if let Value::Word(word) = v { W::parse(word) } else { None }).collect()
    }

    pub fn quantity_opt(&self, name: &str) -> Option<Quantity> {
        if let Some(Value::Quantity(q)) = self.value(name) { Some(q) } else { None }
    }

    pub fn quantity(&self, name: &str, dimension: Dimension) -> Quantity {
        self.quantity_opt(name).unwrap_or(Quantity::new(Rational::from_integer(0), dimension))
    }

    pub fn bytes(&self, name: &str) -> Quantity {
        self.quantity(name, Dimension::Bytes)
    }

    pub fn units(&self, name: &str) -> Option<i64> {
        self.quantity_opt(name).and_then(|q| q.value.ceil().to_integer().to_i64())
    }

    pub fn cidr(&self, name: &str) -> Option<IpNet> {
        if let Some(Value::Cidr(cidr)) = self.value(name) { Some(cidr) } else { None }
    }

    pub fn list(&self, name: &str) -> Vec<Value> {
        match self.value(name) {
            Some(Value::List(list)) => list.to_vec(),
            _ => Vec::new(),
        }
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).into_iter().filter_map(|v| if let Value::Text(s) | Value::Word(s) = v { Some(s.to_string()) } else { None }).collect()
    }

    pub fn map(&self, name: &str) -> Vec<(String, Value)> {
        match self.value(name) {
            Some(Value::Map(map)) => map.iter().map(|(k, v)| (k.to_string(), v.clone())).collect(),
            _ => Vec::new(),
        }
    }

    pub fn text_map(&self, name: &str) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for (key, value) in self.map(name) {
            match value.text() {
                Some(text) => out.push((key, text)),
                None => self.sound.set(false),
            }
        }
        out
    }

    pub fn entity(&self, name: &str) -> Option<Entity> {
        if let Some(Value::Selection(selection)) = self.value(name) { selection.flat().next() } else { None }
    }

    pub fn entities(&self, name: &str) -> Vec<Entity> {
        if let Some(Value::Selection(selection)) = self.value(name) { selection.flat().collect() } else { Vec::new() }
    }

    pub fn product(&self, name: &str) -> Option<Rc<Product>> {
        if let Some(Value::Product(product)) = self.value(name) { Some(product) } else { None }
    }

    pub fn group(&self, name: &str) -> Option<Reader<'_, '_>> {
        let node = self.node.group(name)?.clone();
        if node.broken {
            self.sound.set(false);
        }
        Some(Reader { lang: self.lang, node, sound: self.sound })
    }

    pub fn groups(&self, name: &str) -> Vec<Reader<'_, '_>> {
        self.node
            .groups_named(name)
            .map(|node| {
                if node.broken {
                    self.sound.set(false);
                }
                Reader { lang: self.lang, node: node.clone(), sound: self.sound }
            })
            .collect()
    }

    pub fn label(&self) -> String {
        self.node.label.as_deref().unwrap_or("").to_owned()
    }

    /// The model that was chosen, of a closed set.
    pub fn model<W: Word>(&self) -> W {
        model_of(self.node.model)
    }
}

/// The model that was chosen, of a closed set.
pub(super) fn model_of<W: Word>(model: Option<&crate::schema::Model>) -> W {
    model.and_then(|m| W::parse(m.name)).unwrap_or_default()
}
