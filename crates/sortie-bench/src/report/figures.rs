//! A page of charts: curves over the number of keys or of threads, on logarithmic axes, with the spread of the values
//! at each point.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::curve::{COPY, INK, OURS, PEERS};
use crate::Result;

/// The number of charts in a row.
const COLUMNS: usize = 2;
/// In pixels.
const WIDTH: u32 = 620;
const HEIGHT: u32 = 420;
/// In pixels.
const DOT: i32 = 2;
/// Half the width of a box, as a factor.
const BOX: f64 = 1.02;

pub struct Figure {
    pub title: String,
    /// The name of the x axis.
    pub x: &'static str,
    /// The name of the y axis, with its unit.
    pub y: &'static str,
    pub curves: Vec<Curve>,
}

pub struct Curve {
    pub name: String,
    pub points: Vec<Point>,
}

/// A value at some number of keys or threads. If it is a mean, a box shows the standard deviation, and a line spans the
/// minimum and the maximum.
pub struct Point {
    pub n: f64,
    pub value: f64,
    pub deviation: f64,
    pub least: f64,
    pub most: f64,
}

impl Point {
    /// A value that does not vary.
    pub fn exact(n: f64, value: f64) -> Point {
        Point { n, value, deviation: 0.0, least: value, most: value }
    }
}

pub fn draw(path: &Path, figures: &[Figure]) -> Result<()> {
    if figures.is_empty() {
        return Ok(());
    }
    let cannot = |e: &dyn std::fmt::Display| format!("cannot draw {}: {e}", path.display());
    let columns = figures.len().min(COLUMNS);
    let lines = figures.len().div_ceil(columns);
    let size = (columns as u32 * WIDTH, lines as u32 * HEIGHT);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE).map_err(|e| cannot(&e))?;
    for (area, figure) in root.split_evenly((lines, columns)).iter().zip(figures) {
        draw_one(area, figure).map_err(|e| cannot(&e))?;
    }
    root.present().map_err(|e| cannot(&e).into())
}

fn draw_one(area: &DrawingArea<SVGBackend<'_>, Shift>, figure: &Figure) -> Result<()> {
    // Zero has no logarithm.
    let points = || figure.curves.iter().flat_map(|curve| &curve.points).filter(|point| point.least > 0.0);
    let least = |of: fn(&Point) -> f64| points().map(of).fold(f64::INFINITY, f64::min);
    let most = |of: fn(&Point) -> f64| points().map(of).fold(0.0, f64::max);
    if points().count() == 0 {
        return Ok(());
    }
    let keys = 0.9 * least(|point| point.n)..1.1 * most(|point| point.n);
    let values = 0.8 * least(|point| point.least)..1.25 * most(|point| point.most);
    let mut chart = ChartBuilder::on(area)
        .caption(&figure.title, ("sans-serif", 16).into_font().color(&INK))
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(keys.log_scale(), values.log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(figure.x)
        .y_desc(figure.y)
        .x_label_formatter(&|&n| tick(n))
        .y_label_formatter(&|&value| tick(value))
        .draw()?;
    let mut peers = PEERS.iter().cycle();
    for curve in &figure.curves {
        let colour = match &curve.name[..] {
            "copy" => COPY,
            "sortie" => OURS,
            _ => *peers.next().expect("they come round"),
        };
        let points = || curve.points.iter().filter(|point| point.least > 0.0);
        let line = points().map(|point| (point.n, point.value));
        let series = chart.draw_series(LineSeries::new(line, colour.stroke_width(1)))?;
        series
            .label(&curve.name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2)));
        chart.draw_series(points().map(|point| {
            PathElement::new([(point.n, point.least), (point.n, point.most)], colour.stroke_width(1))
        }))?;
        chart.draw_series(points().map(|point| {
            let low = (point.value - point.deviation).max(point.least);
            let corners = [(point.n / BOX, low), (point.n * BOX, point.value + point.deviation)];
            Rectangle::new(corners, colour.filled())
        }))?;
        chart.draw_series(points().map(|point| Circle::new((point.n, point.value), DOT, colour.filled())))?;
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.85))
        .border_style(COPY)
        .label_font(("sans-serif", 12).into_font().color(&INK))
        .draw()?;
    Ok(())
}

/// Formats 3000000 as 3e6.
fn tick(number: f64) -> String {
    match number {
        _ if number >= 1e5 => format!("{number:e}"),
        _ if number >= 1.0 => format!("{number:.0}"),
        _ => format!("{number:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_curve_of_every_figure_is_in_the_picture() {
        let curve = |name: &str, value: f64| {
            let point = |n| Point {
                n,
                value: n * value,
                deviation: value,
                least: n * value / 2.0,
                most: 2.0 * n * value,
            };
            Curve { name: name.into(), points: vec![point(1000.0), point(100_000.0)] }
        };
        let nothing = Curve { name: "nothing".into(), points: vec![Point::exact(1000.0, 0.0)] };
        let figure = |title: &str, curves| Figure { title: title.into(), x: "keys", y: "ms", curves };
        let figures = [
            figure("first", vec![curve("copy", 1.0), curve("sortie", 2.0)]),
            figure("second", vec![curve("quicksort", 3.0), nothing]),
            figure("empty", vec![]),
        ];
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("figures.svg");
        draw(&path, &figures).unwrap();
        let picture = std::fs::read_to_string(&path).unwrap();
        for text in ["first", "second", "copy", "sortie", "quicksort", "nothing", "10000", "1e5", "#D75F0A"] {
            assert!(picture.contains(text), "no {text}");
        }
        // A box and a dot for each point.
        assert_eq!(picture.matches("fill=\"#D75F0A\"").count(), 4);
        draw(&path, &[]).unwrap();
    }
}
