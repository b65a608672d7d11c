//! The chart of a sweep: rate against length, with a curve for each contender. The copy, which is the upper bound, is
//! dashed.

use std::path::Path;

use plotters::prelude::*;

use super::Row;
use crate::Result;

const SIZE: (u32, u32) = (1100, 640);

pub(super) const INK: RGBColor = RGBColor(34, 34, 34);
pub(super) const COPY: RGBColor = RGBColor(140, 140, 140);
pub(super) const OURS: RGBColor = RGBColor(215, 95, 10);
/// The colours of the peers, in order.
pub(super) const PEERS: [RGBColor; 5] = [
    RGBColor(40, 100, 180),
    RGBColor(60, 150, 90),
    RGBColor(150, 80, 160),
    RGBColor(190, 60, 80),
    RGBColor(120, 110, 60),
];

/// Draws the rows of all lengths.
pub fn draw(path: &Path, rows: &[Row]) -> Result<()> {
    let drawn = draw_on(SVGBackend::new(path, SIZE).into_drawing_area(), rows);
    drawn.map_err(|e| format!("cannot draw {}: {e}", path.display()).into())
}

fn draw_on(root: DrawingArea<SVGBackend<'_>, plotters::coord::Shift>, rows: &[Row]) -> Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let lengths = || rows.iter().filter_map(|row| row.facts.length).map(|length| length as f64);
    let shortest = lengths().fold(f64::INFINITY, f64::min);
    let longest = lengths().fold(2.0 * shortest, f64::max);
    let highest = rows.iter().map(|row| row.rate / 1e9).fold(0.0, f64::max);

    root.fill(&WHITE)?;
    let title =
        format!("Sortie {}, segments of {} keys: rate against length", first.version, first.facts.key);
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 20).into_font().color(&INK))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d((shortest..longest).log_scale(), 0.0..1.05 * highest)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc(format!("keys a segment; {}, {}, medians", first.device, &first.date[..10]))
        .y_desc("billion keys a second")
        .x_label_formatter(&|length| format!("{length:.0}"))
        .draw()?;

    let mut names: Vec<&str> = rows.iter().map(|row| row.contender).collect();
    names.sort_unstable();
    names.dedup();
    let mut peers = PEERS.iter().cycle();
    for name in names {
        let points = rows.iter().filter(|row| row.contender == name);
        let points: Vec<_> =
            points.filter_map(|row| Some((row.facts.length? as f64, row.rate / 1e9))).collect();
        let colour = match name {
            "copy" => COPY,
            "sortie" => OURS,
            _ => *peers.next().expect("they come round"),
        };
        let style = colour.stroke_width(2);
        let series = match name {
            "copy" => chart.draw_series(DashedLineSeries::new(points, 6, 4, style))?,
            _ => chart.draw_series(LineSeries::new(points, style))?,
        };
        series.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.85))
        .border_style(COPY)
        .label_font(("sans-serif", 13).into_font().color(&INK))
        .draw()?;
    Ok(root.present()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Facts, Measured};

    #[test]
    fn every_contender_has_a_curve_over_all_lengths() {
        let row = |contender, length: usize, ms| {
            let facts = Facts {
                suite: "batch",
                work: "segments",
                key: "f32",
                payload: "",
                n: 1 << 20,
                segments: Some((1 << 20) / length),
                length: Some(length),
                distribution: "uniform",
                includes: "",
            };
            let measured =
                Measured { times_ms: vec![ms], bytes: 4 << 20, verified: true, ..Measured::default() };
            Row::new(&facts, contender, 1, &measured)
        };
        let rows: Vec<_> = [1, 10, 100, 1000]
            .into_iter()
            .flat_map(|length| {
                [row("copy", length, 0.01), row("sortie", length, 0.03), row("peer", length, 0.1)]
            })
            .collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("curves.svg");
        draw(&path, &rows).unwrap();
        let picture = std::fs::read_to_string(&path).unwrap();
        for text in ["copy", "sortie", "peer", "1000", "billion keys a second"] {
            assert!(picture.contains(text), "no {text}");
        }
        assert!(picture.contains("#D75F0A"), "the curve of sortie");
        draw(&path, &rows[..3]).unwrap();
    }
}
