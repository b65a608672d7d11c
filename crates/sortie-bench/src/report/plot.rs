//! The chart: a panel for each workload, with a bar for each contender, as long as its throughput.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::Row;
use crate::Result;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The maximum number of panels in a row.
const COLUMNS: usize = 3;

/// All sizes are in pixels.
const PANEL_WIDTH: i32 = 480;
const HEADER: i32 = 64;
const MARGIN: i32 = 16;
const TITLE: i32 = 26;
const LINE: i32 = 18;
const BAR: i32 = 13;
/// The width of the names on the left of the bars, and of the numbers on the right.
const NAMES: i32 = 168;
const NUMBERS: i32 = 56;

const INK: RGBColor = RGBColor(34, 34, 34);
const FAINT: RGBColor = RGBColor(110, 110, 110);

/// Draws the rows of all cases. Rows of the same case follow each other.
pub fn draw(path: &Path, rows: &[Row]) -> Result<()> {
    let panels: Vec<&[Row]> = rows.chunk_by(|a, b| a.label == b.label).collect();
    let Some(most) = panels.iter().map(|panel| panel.len()).max() else { return Ok(()) };
    let columns = panels.len().min(COLUMNS) as i32;
    let height = TITLE + most as i32 * LINE + MARGIN;
    let lines = panels.len().div_ceil(COLUMNS) as i32;
    let size = ((columns * PANEL_WIDTH + MARGIN) as u32, (HEADER + lines * height) as u32);

    let cannot = |e: &dyn std::fmt::Display| format!("cannot draw {}: {e}", path.display());
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE).map_err(|e| cannot(&e))?;
    header(&root, &rows[0]).map_err(|e| cannot(&e))?;
    for (at, panel) in (0..).zip(&panels) {
        let corner = (MARGIN + at % columns * PANEL_WIDTH, HEADER + at / columns * height);
        draw_panel(&root, corner, panel).map_err(|e| cannot(&e))?;
    }
    root.present().map_err(|e| cannot(&e).into())
}

type Drawn = std::result::Result<(), Box<dyn std::error::Error>>;

fn header(root: &Area, row: &Row) -> Drawn {
    let suite = row.facts.suite;
    let things = match suite {
        "batch" | "large" | "hybrid" => "keys",
        _ => "lines",
    };
    let many = if matches!(suite, "batch" | "large" | "device-strings") { "billion" } else { "million" };
    let title = format!("Sortie {}, suite {suite}: {many} {things} a second, medians", row.version);
    write(root, &title, (MARGIN, 20), 18, INK, HPos::Left)?;
    write(root, &format!("{}, {}", row.device, &row.date[..10]), (MARGIN, 42), 13, FAINT, HPos::Left)
}

fn draw_panel(root: &Area, (left, top): (i32, i32), rows: &[Row]) -> Drawn {
    write(root, &rows[0].label, (left, top + TITLE / 2), 15, INK, HPos::Left)?;
    let fastest = rows.iter().map(|row| row.rate).fold(0.0, f64::max);
    let longest = f64::from(PANEL_WIDTH - MARGIN - NAMES - NUMBERS);
    for (at, row) in (0..).zip(rows) {
        let middle = top + TITLE + at * LINE + LINE / 2;
        let from = left + NAMES;
        let to = from + ((row.rate / fastest * longest).round() as i32).max(1);
        let corners = [(from, middle - BAR / 2), (to, middle + BAR / 2)];
        root.draw(&Rectangle::new(corners, colour(row).filled()))?;
        let name = format!("{} ×{}", row.contender, row.threads);
        write(root, &name, (from - 6, middle), 12, INK, HPos::Right)?;
        let scale = if matches!(row.facts.suite, "batch" | "large" | "device-strings") { 1e9 } else { 1e6 };
        let number = format!("{}{}", number(row.rate / scale), if row.verified { "" } else { " WRONG" });
        write(root, &number, (to + 5, middle), 12, FAINT, HPos::Left)?;
    }
    Ok(())
}

/// Orange for Sortie, grey for the baseline, blue for peers. More threads are darker.
fn colour(row: &Row) -> RGBColor {
    match (row.contender, row.threads) {
        ("std" | "GNU sort" | "copy", _) => RGBColor(140, 140, 140),
        (name, 1) if name.starts_with("sortie") => RGBColor(245, 150, 60),
        (name, _) if name.starts_with("sortie") => RGBColor(215, 95, 10),
        (_, 1) => RGBColor(140, 180, 220),
        _ => RGBColor(70, 125, 185),
    }
}

/// Formats a number with about three digits.
pub fn number(x: f64) -> String {
    let decimals = if x < 10.0 { 2 } else { usize::from(x < 100.0) };
    format!("{x:.decimals$}")
}

fn write(root: &Area, text: &str, at: (i32, i32), size: i32, colour: RGBColor, side: HPos) -> Drawn {
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
    Ok(root.draw(&Text::new(text.to_string(), at, style))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Facts, Measured};

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!([0.523, 5.23, 52.3, 523.0, 5230.0].map(number), ["0.52", "5.23", "52.3", "523", "5230"]);
    }

    #[test]
    fn every_contender_of_every_case_is_in_the_picture() {
        let row = |distribution, contender| {
            let facts = Facts {
                suite: "hybrid",
                work: "sort",
                key: "u32",
                payload: "",
                n: 100,
                segments: None,
                length: None,
                distribution,
                includes: "",
            };
            let measured =
                Measured { times_ms: vec![1.0], bytes: 400, verified: true, ..Measured::default() };
            Row::new(&facts, contender, 1, &measured)
        };
        let rows = [row("uniform", "std"), row("uniform", "sortie"), row("zipf", "std"), row("zipf", "rdst")];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("picture.svg");
        draw(&path, &rows).unwrap();
        let picture = std::fs::read_to_string(&path).unwrap();
        for text in
            ["sort u32, 100, uniform", "sort u32, 100, zipf", "sortie ×1", "rdst ×1", "million keys a second"]
        {
            assert!(picture.contains(text), "no {text}");
        }
    }
}
