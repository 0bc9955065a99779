//! Exact numbers with dimensions. Every quantity is a rational in its dimension's base unit; the unit that was written is kept for printing.

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub, Signed, Zero};

/// An exact number.
pub type Rational = Ratio<i128>;

/// What a quantity measures. The base unit of each is in its doc.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dimension {
    /// Bytes.
    Bytes,
    /// Bytes a second.
    Rate,
    /// Watts.
    Power,
    /// Joules.
    Energy,
    /// Seconds.
    Time,
    /// Metres.
    Length,
    /// Rack units.
    RackUnits,
    /// One: a ratio, a percentage.
    Ratio,
    /// Floating-point operations a second.
    Flops,
    /// Kilograms.
    Mass,
    /// Cubic feet a minute.
    Airflow,
    /// Degrees Celsius.
    Temperature,
    /// Hertz.
    Frequency,
}

impl Dimension {
    /// All of them, in the order of the reference.
    pub const ALL: [Dimension; 13] = [
        Dimension::Bytes,
        Dimension::Rate,
        Dimension::Power,
        Dimension::Energy,
        Dimension::Time,
        Dimension::Length,
        Dimension::RackUnits,
        Dimension::Ratio,
        Dimension::Flops,
        Dimension::Mass,
        Dimension::Airflow,
        Dimension::Temperature,
        Dimension::Frequency,
    ];

    /// The type's name in the language.
    pub fn type_name(self) -> &'static str {
        match self {
            Dimension::Bytes => "Bytes",
            Dimension::Rate => "Rate",
            Dimension::Power => "Power",
            Dimension::Energy => "Energy",
            Dimension::Time => "Time",
            Dimension::Length => "Length",
            Dimension::RackUnits => "RackUnits",
            Dimension::Ratio => "Ratio",
            Dimension::Flops => "Flops",
            Dimension::Mass => "Mass",
            Dimension::Airflow => "Airflow",
            Dimension::Temperature => "Temperature",
            Dimension::Frequency => "Frequency",
        }
    }

    /// How a sentence calls it: "a power".
    pub fn phrase(self) -> &'static str {
        match self {
            Dimension::Bytes => "an amount of data",
            Dimension::Rate => "a data rate",
            Dimension::Power => "a power",
            Dimension::Energy => "an energy",
            Dimension::Time => "a time",
            Dimension::Length => "a length",
            Dimension::RackUnits => "a height in rack units",
            Dimension::Ratio => "a ratio",
            Dimension::Flops => "a compute rate",
            Dimension::Mass => "a mass",
            Dimension::Airflow => "an airflow",
            Dimension::Temperature => "a temperature",
            Dimension::Frequency => "a frequency",
        }
    }

    /// A literal of the dimension, for help lines.
    pub fn example(self) -> &'static str {
        match self {
            Dimension::Bytes => "80GiB",
            Dimension::Rate => "400Gb/s",
            Dimension::Power => "10.2kW",
            Dimension::Energy => "5kWh",
            Dimension::Time => "30min",
            Dimension::Length => "3m",
            Dimension::RackUnits => "48U",
            Dimension::Ratio => "3:1 or 95%",
            Dimension::Flops => "989TFLOPS",
            Dimension::Mass => "130kg",
            Dimension::Airflow => "1105CFM",
            Dimension::Temperature => "35C",
            Dimension::Frequency => "2GHz",
        }
    }
}

/// A unit of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// As it is written.
    pub name: &'static str,
    /// What it measures.
    pub dimension: Dimension,
    /// How many base units it is: numerator and denominator.
    pub factor: (i128, i128),
}

const fn unit(name: &'static str, dimension: Dimension, numerator: i128, denominator: i128) -> Unit {
    Unit { name, dimension, factor: (numerator, denominator) }
}

const K: i128 = 1000;
const KI: i128 = 1024;

/// Every unit. Decimal prefixes are powers of 1000, `Ki`… of 1024; `b` is a bit, `B` a byte; only `/s` belongs to a unit.
pub const UNITS: &[Unit] = &[
    unit("B", Dimension::Bytes, 1, 1),
    unit("kB", Dimension::Bytes, K, 1),
    unit("MB", Dimension::Bytes, K * K, 1),
    unit("GB", Dimension::Bytes, K * K * K, 1),
    unit("TB", Dimension::Bytes, K * K * K * K, 1),
    unit("PB", Dimension::Bytes, K * K * K * K * K, 1),
    unit("EB", Dimension::Bytes, K * K * K * K * K * K, 1),
    unit("KiB", Dimension::Bytes, KI, 1),
    unit("MiB", Dimension::Bytes, KI * KI, 1),
    unit("GiB", Dimension::Bytes, KI * KI * KI, 1),
    unit("TiB", Dimension::Bytes, KI * KI * KI * KI, 1),
    unit("PiB", Dimension::Bytes, KI * KI * KI * KI * KI, 1),
    unit("EiB", Dimension::Bytes, KI * KI * KI * KI * KI * KI, 1),
    unit("b", Dimension::Bytes, 1, 8),
    unit("kb", Dimension::Bytes, K, 8),
    unit("Mb", Dimension::Bytes, K * K, 8),
    unit("Gb", Dimension::Bytes, K * K * K, 8),
    unit("Tb", Dimension::Bytes, K * K * K * K, 8),
    unit("B/s", Dimension::Rate, 1, 1),
    unit("kB/s", Dimension::Rate, K, 1),
    unit("MB/s", Dimension::Rate, K * K, 1),
    unit("GB/s", Dimension::Rate, K * K * K, 1),
    unit("TB/s", Dimension::Rate, K * K * K * K, 1),
    unit("PB/s", Dimension::Rate, K * K * K * K * K, 1),
    unit("KiB/s", Dimension::Rate, KI, 1),
    unit("MiB/s", Dimension::Rate, KI * KI, 1),
    unit("GiB/s", Dimension::Rate, KI * KI * KI, 1),
    unit("TiB/s", Dimension::Rate, KI * KI * KI * KI, 1),
    unit("b/s", Dimension::Rate, 1, 8),
    unit("kb/s", Dimension::Rate, K, 8),
    unit("Mb/s", Dimension::Rate, K * K, 8),
    unit("Gb/s", Dimension::Rate, K * K * K, 8),
    unit("Tb/s", Dimension::Rate, K * K * K * K, 8),
    unit("Pb/s", Dimension::Rate, K * K * K * K * K, 8),
    unit("mW", Dimension::Power, 1, K),
    unit("W", Dimension::Power, 1, 1),
    unit("kW", Dimension::Power, K, 1),
    unit("MW", Dimension::Power, K * K, 1),
    unit("J", Dimension::Energy, 1, 1),
    unit("kJ", Dimension::Energy, K, 1),
    unit("MJ", Dimension::Energy, K * K, 1),
    unit("Wh", Dimension::Energy, 3600, 1),
    unit("kWh", Dimension::Energy, 3600 * K, 1),
    unit("MWh", Dimension::Energy, 3600 * K * K, 1),
    unit("ns", Dimension::Time, 1, K * K * K),
    unit("us", Dimension::Time, 1, K * K),
    unit("ms", Dimension::Time, 1, K),
    unit("s", Dimension::Time, 1, 1),
    unit("min", Dimension::Time, 60, 1),
    unit("h", Dimension::Time, 3600, 1),
    unit("d", Dimension::Time, 86400, 1),
    unit("mm", Dimension::Length, 1, K),
    unit("cm", Dimension::Length, 1, 100),
    unit("m", Dimension::Length, 1, 1),
    unit("km", Dimension::Length, K, 1),
    unit("U", Dimension::RackUnits, 1, 1),
    unit("%", Dimension::Ratio, 1, 100),
    unit("FLOPS", Dimension::Flops, 1, 1),
    unit("GFLOPS", Dimension::Flops, K * K * K, 1),
    unit("TFLOPS", Dimension::Flops, K * K * K * K, 1),
    unit("PFLOPS", Dimension::Flops, K * K * K * K * K, 1),
    unit("EFLOPS", Dimension::Flops, K * K * K * K * K * K, 1),
    unit("g", Dimension::Mass, 1, K),
    unit("kg", Dimension::Mass, 1, 1),
    unit("t", Dimension::Mass, K, 1),
    unit("CFM", Dimension::Airflow, 1, 1),
    unit("C", Dimension::Temperature, 1, 1),
    unit("Hz", Dimension::Frequency, 1, 1),
    unit("kHz", Dimension::Frequency, K, 1),
    unit("MHz", Dimension::Frequency, K * K, 1),
    unit("GHz", Dimension::Frequency, K * K * K, 1),
];

/// The unit of that name.
pub fn find_unit(name: &str) -> Option<&'static Unit> {
    UNITS.iter().find(|unit| unit.name == name)
}

/// An exact amount of something.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// In base units.
    pub value: Rational,
    /// What it measures.
    pub dimension: Dimension,
    /// The unit to print it in; none for a ratio of the form `a:b`.
    pub unit: Option<&'static Unit>,
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value && self.dimension == other.dimension
    }
}

impl Quantity {
    /// An amount in base units, printed in the unit that reads best.
    pub fn new(value: Rational, dimension: Dimension) -> Self {
        Self { value, dimension, unit: None }
    }

    /// Bytes.
    pub fn bytes(value: impl Into<Rational>) -> Self {
        Self::new(value.into(), Dimension::Bytes)
    }

    /// Whole base units, rounded down.
    pub fn whole(&self) -> i128 {
        self.value.floor().to_integer()
    }

    /// Bytes, printed in GiB: sums over memory are compared in one unit.
    pub fn gibibytes(bytes: i128) -> Self {
        Self { unit: find_unit("GiB"), ..Self::bytes(bytes) }
    }

    /// The same amount, printed in `like`'s unit.
    #[must_use]
    pub fn like(mut self, like: &Quantity) -> Self {
        self.unit = like.unit;
        self
    }
}

/// The nearest float, for a picture or a weight; never for a check.
pub fn to_f64(value: Rational) -> f64 {
    *value.numer() as f64 / *value.denom() as f64
}

impl serde::Serialize for Quantity {
    /// As it is written: `10.2kW`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A number with at most `digits` decimals and no trailing zeros.
pub fn decimal(value: Rational, digits: u32) -> String {
    let negative = value.is_negative();
    let scale = 10_i128.pow(digits);
    let Some(scaled) = value.abs().checked_mul(&Rational::from_integer(scale)) else {
        return format!("{:.*}", digits as usize, to_f64(value));
    };
    let rounded = scaled.round().to_integer();
    let (whole, fraction) = (rounded / scale, rounded % scale);
    let mut text = format!("{}{whole}", if negative && rounded != 0 { "-" } else { "" });
    if fraction != 0 {
        let fraction = format!("{fraction:0width$}", width = digits as usize);
        text.push('.');
        text.push_str(fraction.trim_end_matches('0'));
    }
    text
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.dimension == Dimension::Ratio && self.unit.is_none() {
            if self.value.is_integer() || *self.value.denom() <= 64 {
                return write!(f, "{}:{}", self.value.numer(), self.value.denom());
            }
            return write!(f, "{}:1", decimal(self.value, 2));
        }
        let unit = self.unit.unwrap_or_else(|| best_unit(self.value, self.dimension));
        let factor = Rational::new(unit.factor.0, unit.factor.1);
        let shown = self.value.checked_div(&factor).unwrap_or(self.value);
        write!(f, "{}{}", decimal(shown, if shown.abs() >= Rational::from_integer(100) { 1 } else { 2 }), unit.name)
    }
}

/// The largest preferred unit of the dimension in which the amount is at least 1.
fn best_unit(value: Rational, dimension: Dimension) -> &'static Unit {
    const PREFERRED: &[&str] = &[
        "B", "KiB", "MiB", "GiB", "TiB", "PiB", "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "W", "kW", "MW", "J", "Wh", "kWh", "ms", "s", "min", "h", "d", "m",
        "km", "U", "%", "GFLOPS", "TFLOPS", "PFLOPS", "EFLOPS", "g", "kg", "t", "CFM", "C", "Hz", "kHz", "MHz", "GHz",
    ];
    let units = || UNITS.iter().filter(move |unit| unit.dimension == dimension && PREFERRED.contains(&unit.name));
    let size = value.abs();
    // A time keeps its smaller unit up to two of the next (90s, 45min), as people write it.
    let margin = Rational::from_integer(if dimension == Dimension::Time { 2 } else { 1 });
    units()
        .filter(|unit| {
            let factor = Rational::new(unit.factor.0, unit.factor.1);
            let enough = if matches!(unit.name, "s" | "ms") { factor } else { factor * margin };
            size >= enough
        })
        .max_by_key(|unit| Rational::new(unit.factor.0, unit.factor.1))
        .or_else(|| units().min_by_key(|unit| Rational::new(unit.factor.0, unit.factor.1)))
        .unwrap_or(&UNITS[0])
}

/// Reads digits with `_` groups and an optional fraction, exactly. Nothing if it does not fit i128.
pub fn parse_number(text: &str) -> Option<Rational> {
    let text: String = text.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let denominator = 10_i128.checked_pow(fraction.len().try_into().ok()?)?;
    let numerator: i128 = format!("{whole}{fraction}").parse().ok()?;
    Some(Rational::new(numerator, denominator))
}

/// The result of arithmetic that did not fit, or mixed what cannot be mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArithmeticFault {
    /// A number of the sum leaves i128.
    Overflow,
    /// The dimensions do not combine.
    Dimensions,
    /// Division by zero.
    DivisionByZero,
}

/// `a op b` of two rationals, checked.
pub fn arithmetic(a: Rational, op: char, b: Rational) -> Result<Rational, ArithmeticFault> {
    let result = match op {
        '+' => a.checked_add(&b),
        '-' => a.checked_sub(&b),
        '*' => a.checked_mul(&b),
        _ if b.is_zero() => return Err(ArithmeticFault::DivisionByZero),
        _ => a.checked_div(&b),
    };
    result.ok_or(ArithmeticFault::Overflow)
}

/// The dimension of `a op b`, where none is a plain number; `Ok(None)` is a plain number.
/// The table is LANGUAGE.md, "Numbers".
pub fn combine(a: Option<Dimension>, op: char, b: Option<Dimension>) -> Result<Option<Dimension>, ArithmeticFault> {
    use Dimension as D;
    match (a, op, b) {
        (a, '+' | '-', b) if a == b => Ok(a),
        (Some(D::Ratio), '*' | '/', None) | (None, '*', Some(D::Ratio)) => Ok(Some(D::Ratio)),
        (Some(D::Ratio), '*', Some(D::Ratio)) => Ok(Some(D::Ratio)),
        (a, '*' | '/', None | Some(D::Ratio)) => Ok(a),
        (None | Some(D::Ratio), '*', b) => Ok(b),
        (Some(a), '/', Some(b)) if a == b => Ok(None),
        (Some(D::Bytes), '/', Some(D::Time)) => Ok(Some(D::Rate)),
        (Some(D::Bytes), '/', Some(D::Rate)) => Ok(Some(D::Time)),
        (Some(D::Rate), '*', Some(D::Time)) | (Some(D::Time), '*', Some(D::Rate)) => Ok(Some(D::Bytes)),
        (Some(D::Power), '*', Some(D::Time)) | (Some(D::Time), '*', Some(D::Power)) => Ok(Some(D::Energy)),
        (Some(D::Energy), '/', Some(D::Time)) => Ok(Some(D::Power)),
        (Some(D::Energy), '/', Some(D::Power)) => Ok(Some(D::Time)),
        _ => Err(ArithmeticFault::Dimensions),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(number: &str, unit: &str) -> Quantity {
        let unit = find_unit(unit).unwrap();
        let value = parse_number(number).unwrap() * Rational::new(unit.factor.0, unit.factor.1);
        Quantity { value, dimension: unit.dimension, unit: Some(unit) }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(quantity("1.1", "TiB").value, Rational::new(11 * KI * KI * KI * KI, 10));
        assert_eq!(quantity("400", "Gb/s").value, quantity("50", "GB/s").value);
    }

    #[test]
    fn printing_keeps_the_unit() {
        assert_eq!(quantity("40.80", "kW").to_string(), "40.8kW");
        assert_eq!(Quantity::new(Rational::new(3, 1), Dimension::Ratio).to_string(), "3:1");
        assert_eq!(Quantity::new(Rational::from_integer(50_000_000_000), Dimension::Rate).to_string(), "50GB/s");
        assert_eq!(Quantity::new(Rational::from_integer(17), Dimension::Time).to_string(), "17s");
    }

    #[test]
    fn dimensions_combine_as_the_table_says() {
        use Dimension as D;
        assert_eq!(combine(Some(D::Bytes), '/', Some(D::Time)), Ok(Some(D::Rate)));
        assert_eq!(combine(Some(D::Bytes), '+', Some(D::Rate)), Err(ArithmeticFault::Dimensions));
        assert_eq!(combine(Some(D::Power), '*', Some(D::Time)), Ok(Some(D::Energy)));
        assert_eq!(combine(Some(D::Rate), '/', Some(D::Rate)), Ok(None));
    }

    #[test]
    fn overflow_is_a_fault() {
        let huge = Rational::from_integer(i128::MAX);
        assert_eq!(arithmetic(huge, '*', huge), Err(ArithmeticFault::Overflow));
        assert_eq!(arithmetic(huge, '/', Rational::zero()), Err(ArithmeticFault::DivisionByZero));
    }
}
