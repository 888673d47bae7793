//! The colours of pictures.
//!
//! The hues are those of Okabe and Ito (2008), which colour-blind people can tell apart: blue,
//! orange, green, vermilion. Forms and hatching repeat what colours say.

use std::fmt::Write;

/// The look of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// For print: black on white, and fills that stay apart in grey.
    Paper,
    /// For screens and slides: dark on white, with lanes.
    #[default]
    Screen,
    /// For dark pages.
    Dark,
}

/// The colours of a style.
struct Palette {
    ground: &'static str,
    lane: &'static str,
    grid: &'static str,
    text: &'static str,
    faint: &'static str,
    send: [&'static str; 2],
    receive: [&'static str; 2],
    operation: [&'static str; 2],
    calculation: [&'static str; 2],
    waiting: &'static str,
    message: &'static str,
    warning: &'static str,
    warning_ground: &'static str,
    critical: &'static str,
    /// The text in shapes.
    inside: &'static str,
}

const SCREEN: Palette = Palette {
    ground: "#ffffff",
    lane: "#f4f6f8",
    grid: "#dde2e7",
    text: "#1b2126",
    faint: "#5a6570",
    send: ["#86bfe8", "#005b8f"],
    receive: ["#f7c55f", "#8f5f00"],
    operation: ["#6cccae", "#00684c"],
    calculation: ["#ccd2d8", "#5a6570"],
    waiting: "#a3adb7",
    message: "#5f7182",
    warning: "#c94a00",
    warning_ground: "#ffe9dc",
    critical: "#000000",
    inside: "#0b1014",
};

const PAPER: Palette = Palette {
    lane: "#ffffff",
    grid: "#cfcfcf",
    text: "#000000",
    faint: "#444444",
    send: ["#9fd0f2", "#003f66"],
    receive: ["#fbe0a4", "#6b4700"],
    operation: ["#4fb795", "#004a36"],
    calculation: ["#e6e6e6", "#333333"],
    waiting: "#8a8a8a",
    message: "#444444",
    inside: "#000000",
    ..SCREEN
};

const DARK: Palette = Palette {
    ground: "#14181c",
    lane: "#1d2329",
    grid: "#343c44",
    text: "#eef1f4",
    faint: "#a9b4be",
    send: ["#56b4e9", "#bfe3f9"],
    receive: ["#e9a72a", "#ffe1a0"],
    operation: ["#35b48f", "#a5ead4"],
    calculation: ["#8d99a5", "#d5dce2"],
    waiting: "#6b7783",
    message: "#a9b4be",
    warning: "#ff8a4a",
    warning_ground: "#43271a",
    critical: "#ffffff",
    inside: "#05080a",
};

impl Style {
    fn palette(self) -> &'static Palette {
        match self {
            Style::Paper => &PAPER,
            Style::Screen => &SCREEN,
            Style::Dark => &DARK,
        }
    }

    /// Returns the rules of the classes that a scene uses, for the only `<style>` of an SVG.
    pub(crate) fn rules(self) -> String {
        let p = self.palette();
        let mut css = String::new();
        let mut rule = |selector: &str, body: std::fmt::Arguments<'_>| {
            let _ = write!(css, "{selector}{{{body}}}");
        };
        rule("text", format_args!("fill:{}", p.text));
        rule(".ground", format_args!("fill:{}", p.ground));
        rule(".lane", format_args!("fill:{}", p.lane));
        rule(".line", format_args!("stroke:{};fill:none", p.grid));
        rule(".axis", format_args!("stroke:{};fill:none", p.faint));
        rule(".end", format_args!("stroke:{};fill:none;stroke-dasharray:5 4", p.faint));
        rule("text.faint", format_args!("fill:{}", p.faint));
        rule("text.bold", format_args!("font-weight:bold"));
        rule("text.in", format_args!("fill:{};pointer-events:none", p.inside));
        rule("text.bad", format_args!("fill:{};font-weight:bold", p.warning));
        rule("text.badge", format_args!("fill:{};font-weight:bold", p.ground));
        for (class, [fill, stroke]) in [
            ("s", p.send),
            ("r", p.receive),
            ("o", p.operation),
            ("k", p.calculation),
            ("n", [p.ground, p.faint]),
        ] {
            rule(&format!(".{class}"), format_args!("fill:{fill};stroke:{stroke}"));
            rule(&format!(".{class}i"), format_args!("fill:none;stroke:{fill};stroke-width:4"));
            rule(&format!(".{class}a"), format_args!("fill:{fill}"));
        }
        rule(".w", format_args!("fill:url(#hatch)"));
        rule(".b", format_args!("fill:url(#bad);stroke:{};stroke-width:1.6", p.warning));
        rule(".u", format_args!("fill:{};stroke:{};stroke-dasharray:3 2", p.ground, p.faint));
        rule(
            ".x",
            format_args!(
                "fill:url(#bad);stroke:{};stroke-width:1.6;stroke-dasharray:3 2",
                p.warning
            ),
        );
        rule(
            ".m",
            format_args!("fill:none;stroke:{};stroke-opacity:.75;marker-end:url(#tip)", p.message),
        );
        rule(
            ".mt",
            format_args!("fill:none;stroke:{};stroke-opacity:.6;stroke-width:.6", p.message),
        );
        rule(".e", format_args!("fill:none;stroke:{};stroke-dasharray:2 4", p.faint));
        rule(".d", format_args!("fill:none;stroke:{};stroke-opacity:.6", p.faint));
        rule(
            ".di",
            format_args!("fill:none;stroke:{};stroke-opacity:.6;stroke-dasharray:4 3", p.faint),
        );
        rule(".c", format_args!("stroke:{};stroke-width:2.2", p.critical));
        rule(
            ".cm",
            format_args!("fill:none;stroke:{};stroke-width:2;marker-end:url(#ctip)", p.critical),
        );
        rule(".cd", format_args!("fill:none;stroke:{};stroke-width:2", p.critical));
        rule(
            ".wait",
            format_args!("fill:none;stroke:{};stroke-width:2;marker-end:url(#btip)", p.warning),
        );
        rule(".mark", format_args!("stroke:{};stroke-width:1.5;fill:none", p.warning));
        rule(".dot", format_args!("fill:{}", p.warning));
        rule("#tip path", format_args!("fill:{}", p.message));
        rule("#ctip path", format_args!("fill:{}", p.critical));
        rule("#btip path", format_args!("fill:{}", p.warning));
        rule("#hatch path", format_args!("stroke:{};fill:none", p.waiting));
        rule("#bad rect", format_args!("fill:{}", p.warning_ground));
        rule("#bad path", format_args!("stroke:{};fill:none;stroke-opacity:.55", p.warning));
        css
    }
}
