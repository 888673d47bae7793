//! Writes a scene as PNG, with the fonts of the system.

use crate::error::DrawError;
use crate::scene::Scene;
use crate::style::Style;
use crate::svg::svg;
use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// Pixels of a unit of length.
const SCALE: f32 = 2.0;

/// Families for text, the best first. Their letters are about as wide as the geometry assumes.
const FAMILIES: [&str; 7] = [
    "DejaVu Sans",
    "Noto Sans",
    "Liberation Sans",
    "Segoe UI",
    "Helvetica Neue",
    "Arial",
    "FreeSans",
];

/// Returns a scene as PNG.
///
/// # Errors
/// If no font is installed.
pub fn png(scene: &Scene, style: Style) -> Result<Vec<u8>, DrawError> {
    let mut options = usvg::Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_system_fonts();
    let has = |family: &&&str| {
        fonts.faces().any(|face| face.families.iter().any(|(name, _)| name == **family))
    };
    let known = FAMILIES.iter().find(has).map(|family| (*family).to_owned());
    let any = || Some(fonts.faces().next()?.families.first()?.0.clone());
    let family = known.or_else(any).ok_or(DrawError::NoFont)?;
    fonts.set_sans_serif_family(family);
    let wrong = |error: &dyn std::fmt::Display| DrawError::NoBitmap(error.to_string());
    let tree = usvg::Tree::from_str(&svg(scene, style), &options).map_err(|error| wrong(&error))?;
    let size = tree.size().to_int_size();
    let size = size.scale_by(SCALE).unwrap_or(size);
    let mut bitmap = tiny_skia::Pixmap::new(size.width(), size.height())
        .ok_or_else(|| DrawError::NoBitmap("it is too large".to_owned()))?;
    let scale = tiny_skia::Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, scale, &mut bitmap.as_mut());
    bitmap.encode_png().map_err(|error| wrong(&error))
}
