//! Pictures as SVG: fabrics, racks, the devices of a system. Deterministic, without scripts, readable on light and dark ground.

pub mod fabric;
pub mod rack;
pub mod system;

use std::fmt::Write as _;

/// What is drawn, before its frame.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// Width in pixels.
    pub width: f64,
    /// Height in pixels.
    pub height: f64,
    body: String,
}

/// Colours of rails, told apart by people who see colours differently (the palette of Okabe and Ito), each on light and dark ground.
pub const RAILS: usize = 8;

const STYLE: &str = "<style>
svg { --ink: #1f2328; --soft: #59636e; --line: #8c959f; --fill: #f6f8fa; --ground: #ffffff; --a: #ddf4ff; --b: #fff1e5; --c: #dafbe1; --d: #fbefff; background: var(--ground); }
@media (prefers-color-scheme: dark) { svg { --ink: #f0f6fc; --soft: #9198a1; --line: #656c76; --fill: #212830; --ground: #0d1117; --a: #10304d; --b: #4a2a12; --c: #12391f; --d: #3a2150; } }
text { font-family: ui-sans-serif, system-ui, 'Helvetica Neue', Arial, sans-serif; font-size: 12px; fill: var(--ink); }
.soft { fill: var(--soft); font-size: 11px; } .small { font-size: 9px; } .title { font-size: 15px; font-weight: 600; } .middle { text-anchor: middle; } .end { text-anchor: end; }
rect { fill: var(--fill); stroke: var(--line); } .ground { fill: var(--ground); stroke: none; } .a { fill: var(--a); } .b { fill: var(--b); } .c { fill: var(--c); } .d { fill: var(--d); } .none { fill: none; }
line { stroke: var(--line); stroke-width: 1; } .faint { stroke-opacity: .45; }
.r0 { stroke: #0072b2; } .r1 { stroke: #e69f00; } .r2 { stroke: #009e73; } .r3 { stroke: #cc79a7; } .r4 { stroke: #56b4e9; } .r5 { stroke: #d55e00; } .r6 { stroke: #b8a800; } .r7 { stroke: #8250df; }
</style>";

impl Drawing {
    /// A whole file.
    pub fn svg(&self) -> String {
        let (width, height) = (self.width.ceil(), self.height.ceil());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n{STYLE}\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.body
        )
    }

    /// Drawings below one another.
    pub fn stack(drawings: Vec<Drawing>) -> Drawing {
        let mut out = Drawing::default();
        for drawing in drawings {
            out.place(&drawing, 0.0, out.height);
        }
        out
    }

    /// Drawings in rows of at most that width.
    pub fn flow(drawings: Vec<Drawing>, width: f64) -> Drawing {
        let mut out = Drawing::default();
        let (mut x, mut y, mut row) = (0.0, 0.0, 0.0_f64);
        for drawing in drawings {
            if x > 0.0 && x + drawing.width > width {
                (x, y, row) = (0.0, y + row, 0.0);
            }
            out.place(&drawing, x, y);
            x += drawing.width;
            row = row.max(drawing.height);
        }
        out
    }

    /// Puts a drawing at a place.
    pub fn place(&mut self, other: &Drawing, x: f64, y: f64) {
        let _ = write!(self.body, "<g transform=\"translate({} {})\">\n{}</g>\n", number(x), number(y), other.body);
        self.width = self.width.max(x + other.width);
        self.height = self.height.max(y + other.height);
    }

    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(self.body, "<text x=\"{}\" y=\"{}\"{class}>{}</text>", number(x), number(y), escape(text));
    }

    fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ =
            writeln!(self.body, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"3\"{class}/>", number(x), number(y), number(width), number(height));
    }

    fn line(&mut self, a: (f64, f64), b: (f64, f64), class: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(self.body, "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{class}/>", number(a.0), number(a.1), number(b.0), number(b.1));
    }

    /// A box with up to two lines of text, cut to its width; what is cut off stands in its tooltip.
    fn node(&mut self, x: f64, y: f64, width: f64, height: f64, class: &str, lines: [&str; 2]) {
        let _ = writeln!(self.body, "<g><title>{}</title>", escape(lines.join(" ").trim()));
        self.rect(x, y, width, height, class);
        let centre = x + width / 2.0;
        let [first, second] = lines;
        if second.is_empty() {
            self.text(centre, y + height / 2.0 + 4.0, "middle", &fit(first, width, 12.0));
        } else {
            self.text(centre, y + height / 2.0 - 2.0, "middle", &fit(first, width, 12.0));
            self.text(centre, y + height / 2.0 + 12.0, "middle soft", &fit(second, width, 11.0));
        }
        self.body += "</g>\n";
    }
}

fn number(v: f64) -> String {
    let rounded = (v * 10.0).round() / 10.0;
    format!("{rounded}")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Text that fits so many pixels: letters are about 0.58 of the size wide on average, and 4 pixels stay on each side.
fn fit(text: &str, width: f64, size: f64) -> String {
    let most = ((width - 8.0) / (size * 0.58)).floor().max(1.0) as usize;
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most.saturating_sub(1)).collect::<String>() + "…" }
}

/// Pixels that a text takes.
fn width_of(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * 0.58
}
