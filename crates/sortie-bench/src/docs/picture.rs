//! The picture at the top of the README: a bar chart of throughput that suits light and dark pages.

use super::speedups::Speedup;
use crate::Result;

/// All sizes are in pixels.
const WIDTH: usize = 720;
const TITLE: usize = 56;
const HEADING: usize = 34;
const BAR: usize = 16;
const LINE: usize = 22;
const MARGIN: usize = 4;
/// The width of the names on the left of the bars, and of the numbers on the right.
const NAMES: usize = 170;
const NUMBERS: usize = 50;

const STYLE: &str = "\
<style>
text { fill: #222; } .faint { fill: #666; } .sortie { fill: #d75f0a; } .peer { fill: #8c8c8c; }
@media (prefers-color-scheme: dark) {
  text { fill: #eee; } .faint { fill: #aaa; } .sortie { fill: #f5963c; } .peer { fill: #777; }
}
</style>
";

/// Draws a panel for each speed-up that the picture shows. It has a bar for Sortie and one for each peer, as long as
/// its throughput relative to Sortie's.
pub fn draw(speedups: &[Speedup]) -> Result<String> {
    let mut parts = text(0, 20, "font-size=\"17\"", "Throughput, where Sortie's is 1");
    parts += &text(0, 42, "class=\"faint\"", "Longer is faster. Each panel is from the run named beside it.");
    let mut top = TITLE;
    for speedup in speedups.iter().filter(|speedup| speedup.drawn) {
        parts += &text(0, top + 22, "font-weight=\"bold\"", &speedup.work.replace('`', ""));
        parts += &text(WIDTH, top + 22, "class=\"faint\" text-anchor=\"end\"", speedup.run);
        top += HEADING;
        parts += &bar(top, "sortie", "Sortie", 1.0);
        for (name, ratio) in speedup.ratios()? {
            top += LINE;
            parts += &bar(top, "peer", &name.replace('`', ""), 1.0 / ratio);
        }
        top += LINE;
    }
    top += MARGIN;
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {top}\" width=\"{WIDTH}\" height=\"{top}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"13\">\n{STYLE}{parts}</svg>\n"
    ))
}

/// A name, a bar and a number, both for the throughput relative to Sortie's.
fn bar(top: usize, class: &str, name: &str, throughput: f64) -> String {
    let width = throughput * (WIDTH - NAMES - NUMBERS) as f64;
    let middle = top + BAR - 3;
    let name = text(NAMES - 8, middle, "text-anchor=\"end\"", name);
    let rectangle = format!(
        "<rect class=\"{class}\" x=\"{NAMES}\" y=\"{top}\" width=\"{width:.1}\" height=\"{BAR}\" rx=\"2\"/>\n"
    );
    name + &rectangle
        + &text(NAMES + width as usize + 8, middle, "class=\"faint\"", &format!("{throughput:.2}"))
}

fn text(x: usize, y: usize, attributes: &str, text: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y}\" {attributes}>{text}</text>\n")
}
