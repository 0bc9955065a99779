//! The codes of the language itself, as `aic explain` tells them; those of rules stand in docs/rules.

/// Codes of the language itself: what each says.
pub const LANGUAGE: &[(&str, &str)] = &[
    ("AIC0001", "The text cannot be read: what was expected stands in the message."),
    ("AIC0002", "Brackets nest too deep. Name an inner part with `let`."),
    ("AIC0003", "An item stands where it cannot: a `use` in a body, a field outside any declaration."),
    ("AIC0004", "A string holds an unknown escape or a control character."),
    ("AIC0005", "A key is a fixed text: it has no holes."),
    ("AIC0006", "Comparisons do not chain: `a < b < c` is written `a < b and b < c`."),
    ("AIC0101", "A name, a function or a parameter that nothing declares."),
    ("AIC0102", "Two declarations of one kind have the same name in one body."),
    ("AIC0103", "A declaration or a product has no member of that name."),
    ("AIC0104", "A value needs itself; the message shows the whole way round."),
    ("AIC0105", "An index beyond the last element, or a path that selects nothing."),
    ("AIC0106", "A field, group or kind that the schema does not know at that place."),
    ("AIC0107", "A `let`, `param`, `fn` or import that nothing reads. Begin its name with `_` to keep it."),
    ("AIC0108", "A required field or group is missing."),
    ("AIC0109", "Declarations of several kinds share the name; put the kind in front: `fabric.inband`."),
    ("AIC0110", "A field or group is set twice in one body."),
    ("AIC0111", "A file of the project that does not exist."),
    ("AIC0112", "A declaration is named like its kind: `rack rack`."),
    ("AIC0113", "A model, a name or a count is missing, or stands where none belongs."),
    ("AIC0114", "A computed attribute is set."),
    ("AIC0115", "A computed attribute is read before the design is planned. Only asserts may."),
    ("AIC0116", "An `@allow` has no reason."),
    ("AIC0117", "The parameters of a module are set twice, or not by the entry file."),
    ("AIC0118", "A parameter has neither a value nor a default."),
    ("AIC0119", "The program declares no cluster."),
    ("AIC0120", "An assert of the design does not hold."),
    ("AIC0121", "An `@allow` silences nothing."),
    ("AIC0201", "An unknown unit, or a field written as a group (or the other way round)."),
    ("AIC0202", "A value is not of the expected type."),
    ("AIC0203", "Two dimensions do not add, compare or combine."),
    ("AIC0204", "An address, a version, an image or a label that is none."),
    ("AIC0205", "A word that is none of an enum's."),
    ("AIC0206", "A model that a choice does not have."),
    ("AIC0207", "A number is too large, or a division by zero."),
    ("AIC0208", "A whole number is expected, or a count within reason."),
    ("AIC0209", "A type that does not exist."),
    ("AIC0210", "A number lies outside what its field may hold."),
    ("AIC1490", "The language accepts it, this version of aic does not emit it yet; `check` passes, `build` does not write."),
    ("AIC1491", "`build --schemas`: the cluster's own definitions refuse an object, or do not serve its version."),
    ("AIC1492", "`build --schemas`: the cluster has no definition of a kind; its operator is not installed yet."),
    ("AIC1493", "`build --schemas`: a rule of a definition uses what this version cannot evaluate; the cluster will."),
];

/// What a code of the language says.
pub fn language_code(code: &str) -> Option<&'static str> {
    LANGUAGE.iter().find(|(c, _)| c.eq_ignore_ascii_case(code)).map(|(_, text)| *text)
}
