//! A heat map of ratios: blue where Sortie is faster, red where a peer is faster, white at 1.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::curve::INK;
use crate::Result;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// All sizes are in pixels.
const WIDTH: i32 = 34;
const HEIGHT: i32 = 20;
const GAP: i32 = 8;
const LETTER: i32 = 7;
const MARGIN: i32 = 16;
const NAMES: i32 = 150;
const HEADER: i32 = 100;

const AHEAD: RGBColor = RGBColor(33, 102, 172);
const BEHIND: RGBColor = RGBColor(178, 24, 43);
/// The colour is saturated from this ratio on, and below its inverse.
const FULL: f64 = 3.0;

pub struct Tile {
    pub row: String,
    /// The group of columns.
    pub group: String,
    pub column: String,
    pub ratio: f64,
    pub right: bool,
}

/// Draws the tiles. Rows and columns appear in the order in which tiles first name them.
pub fn draw(path: &Path, title: &str, tiles: &[Tile]) -> Result<()> {
    let drawn = draw_all(path, title, tiles);
    drawn.map_err(|e| format!("cannot draw {}: {e}", path.display()).into())
}

fn draw_all(path: &Path, title: &str, tiles: &[Tile]) -> Result<()> {
    let rows = distinct(tiles.iter().map(|tile| &tile.row));
    let columns = distinct(tiles.iter().map(|tile| (&tile.group, &tile.column)));
    let (lefts, right) = lefts(&columns);
    let top = |at: usize| HEADER + at as i32 * HEIGHT;
    let size = ((right.max(720) + MARGIN) as u32, (top(rows.len()) + MARGIN) as u32);

    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    write(&root, title, (MARGIN, 20), 18, INK, HPos::Left)?;
    write(&root, "blue: Sortie is faster; red: the peer is", (MARGIN, 42), 13, INK, HPos::Left)?;
    for (at, row) in rows.iter().enumerate() {
        write(&root, row, (MARGIN + NAMES - 6, top(at) + HEIGHT / 2), 12, INK, HPos::Right)?;
    }
    for (at, (group, column)) in columns.iter().enumerate() {
        write(&root, column, (lefts[at] + WIDTH / 2, HEADER - 10), 11, INK, HPos::Center)?;
        if at == 0 || columns[at - 1].0 != *group {
            write(&root, group, (lefts[at], HEADER - 28), 12, INK, HPos::Left)?;
        }
    }
    for tile in tiles {
        let row = rows.iter().position(|row| **row == tile.row).unwrap_or(0);
        let column = columns.iter().position(|c| *c == (&tile.group, &tile.column)).unwrap_or(0);
        let (x, y) = (lefts[column], top(row));
        let colour = colour(tile.ratio);
        root.draw(&Rectangle::new([(x, y), (x + WIDTH - 1, y + HEIGHT - 1)], colour.filled()))?;
        let dark = u32::from(colour.0) + u32::from(colour.1) + u32::from(colour.2) < 380;
        let text = if tile.right { number(tile.ratio) } else { "WRONG".into() };
        let ink = if dark { WHITE } else { INK };
        write(&root, &text, (x + WIDTH / 2, y + HEIGHT / 2), 10, ink, HPos::Center)?;
    }
    Ok(root.present()?)
}

/// The start of each column, followed by the end of the last one. There are gaps between groups, and each is at least
/// as wide as its name.
fn lefts(columns: &[(&String, &String)]) -> (Vec<i32>, i32) {
    let (mut lefts, mut at) = (Vec::new(), MARGIN + NAMES);
    for group in columns.chunk_by(|a, b| a.0 == b.0) {
        lefts.extend((0..group.len() as i32).map(|column| at + column * WIDTH));
        let name = group[0].0.len() as i32 * LETTER;
        at += name.max(group.len() as i32 * WIDTH) + GAP;
    }
    (lefts, at)
}

fn distinct<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for one in all {
        if !seen.contains(&one) {
            seen.push(one);
        }
    }
    seen
}

fn colour(ratio: f64) -> RGBColor {
    let share = (ratio.ln() / FULL.ln()).clamp(-1.0, 1.0);
    let end = if share > 0.0 { AHEAD } else { BEHIND };
    let mixed = |part: u8| (255.0 + share.abs() * (f64::from(part) - 255.0)).round() as u8;
    RGBColor(mixed(end.0), mixed(end.1), mixed(end.2))
}

fn number(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}") } else { format!("{ratio:.0}") }
}

fn write(root: &Area<'_>, text: &str, at: (i32, i32), size: i32, colour: RGBColor, side: HPos) -> Result<()> {
    let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
    Ok(root.draw(&Text::new(text.to_string(), at, style))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_diverge_around_one() {
        assert_eq!(colour(1.0), RGBColor(255, 255, 255));
        assert_eq!((colour(9.0), colour(0.1)), (AHEAD, BEHIND));
        assert!(colour(1.2).0 < 255 && colour(0.8).2 < 255);
    }

    #[test]
    fn every_tile_has_its_row_and_column() {
        let tile = |row: &str, group: &str, ratio, right| Tile {
            row: row.into(),
            group: group.into(),
            column: "2^28".into(),
            ratio,
            right,
        };
        let tiles = [
            tile("uniform", "keys u32", 1.51, true),
            tile("zero", "keys u32", 0.52, true),
            tile("uniform", "keys u64", 12.3, true),
            tile("expo", "keys u64", 2.0, false),
        ];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map.svg");
        draw(&path, "a title", &tiles).unwrap();
        let picture = std::fs::read_to_string(&path).unwrap();
        for text in ["a title", "uniform", "zero", "expo", "keys u32", "keys u64", "1.51", "0.52", "WRONG"] {
            assert!(picture.contains(text), "no {text}");
        }
        assert_eq!(picture.matches("2^28").count(), 2, "a column a group");
        draw(&path, "nothing", &[]).unwrap();
    }
}
