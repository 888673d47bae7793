//! Writes a scene as SVG: one file without scripts, without addresses and without fonts of its own.
//!
//! Texts of a scene come from anywhere. They stand only between tags, where they are escaped.

use crate::scene::{Anchor, Item, Scene};
use crate::style::Style;
use crate::unit::is_unfit;
use std::fmt::Write;

/// Returns a scene as SVG.
pub fn svg(scene: &Scene, style: Style) -> String {
    let Scene { width, height, title, description, items } = scene;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" \
         font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif\" font-size=\"12\">\n\
         <title>{}</title>\n<desc>{}</desc>\n<style>{}</style>\n<defs>{}</defs>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n",
        escaped(title),
        escaped(description),
        style.rules(),
        definitions(),
    );
    let mut open = "";
    for item in items {
        match item {
            Item::Path { class, path, tip } => {
                if open != *class {
                    close(&mut svg, open);
                    let _ = writeln!(svg, "<g class=\"{class}\">");
                    open = class;
                }
                let _ = match tip {
                    Some(tip) => {
                        writeln!(svg, "<path d=\"{path}\"><title>{}</title></path>", escaped(tip))
                    }
                    None => writeln!(svg, "<path d=\"{path}\"/>"),
                };
            }
            Item::Text { class, x, y, size, anchor, text } => {
                close(&mut svg, std::mem::take(&mut open));
                let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\"");
                if !class.is_empty() {
                    let _ = write!(svg, " class=\"{class}\"");
                }
                if *size != 12.0 {
                    let _ = write!(svg, " font-size=\"{size}\"");
                }
                let anchor = match anchor {
                    Anchor::Start => "",
                    Anchor::Middle => " text-anchor=\"middle\"",
                    Anchor::End => " text-anchor=\"end\"",
                };
                let _ = writeln!(svg, "{anchor}>{}</text>", escaped(text));
            }
        }
    }
    close(&mut svg, open);
    svg.push_str("</svg>\n");
    svg
}

fn close(svg: &mut String, open: &str) {
    if !open.is_empty() {
        svg.push_str("</g>\n");
    }
}

/// Returns the arrowheads and the hatching.
fn definitions() -> String {
    let tip = |name: &str, size: u32| {
        format!(
            "<marker id=\"{name}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" \
             markerWidth=\"{size}\" markerHeight=\"{size}\" markerUnits=\"userSpaceOnUse\" \
             orient=\"auto\"><path d=\"M0,0.8L8,4L0,7.2z\"/></marker>"
        )
    };
    let hatch = |name: &str, size: u32, ground: &str| {
        format!(
            "<pattern id=\"{name}\" width=\"{size}\" height=\"{size}\" \
             patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">{ground}\
             <path d=\"M0,0V{size}\" stroke-width=\"2\"/></pattern>"
        )
    };
    [
        tip("tip", 7),
        tip("ctip", 9),
        tip("btip", 10),
        hatch("hatch", 6, ""),
        hatch("bad", 5, "<rect width=\"5\" height=\"5\"/>"),
    ]
    .concat()
}

/// Escapes text between tags. XML lacks other control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\n' => escaped.push('\n'),
            _ if is_unfit(character) => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}
