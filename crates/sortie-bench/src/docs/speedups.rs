//! The README's table: how much faster Sortie is than common alternatives.

use serde::Deserialize;

use super::run;
use super::select::Rows;
use crate::Result;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Speedup {
    pub work: &'static str,
    /// The file in `runs/`, without its extension.
    pub run: &'static str,
    rows: Rows,
    /// Their names in the run and in the README.
    peers: Vec<(&'static str, &'static str)>,
    /// Whether the picture also shows it.
    #[serde(default)]
    pub drawn: bool,
}

impl Speedup {
    /// The name of each peer in the README, and Sortie's rate divided by the peer's.
    pub fn ratios(&self) -> Result<Vec<(&'static str, f64)>> {
        let rows = run::read(self.run)?;
        let missing = |name: &str| format!("run {} has no {name} for {}", self.run, self.work);
        let sortie = rows.iter().find(|row| row.contender == "sortie" && self.rows.take(row));
        let sortie = sortie.ok_or_else(|| missing("sortie"))?;
        let ratio = |&(contender, name)| {
            let peer = rows.iter().find(|row| row.contender == contender && run::is_peer(row, sortie));
            Ok((name, sortie.rate / peer.ok_or_else(|| missing(contender))?.rate))
        };
        self.peers.iter().map(ratio).collect()
    }
}

pub fn markdown(speedups: &[Speedup]) -> Result<String> {
    let mut text = "| work | against | speed-up | run |\n|---|---|---|---|\n".to_string();
    for speedup in speedups {
        let (names, ratios): (Vec<_>, Vec<_>) = speedup.ratios()?.into_iter().unzip();
        let ratios: Vec<_> = ratios.into_iter().map(times).collect();
        let link = run::link(speedup.run, &speedup.run[..10], "");
        text += &format!("| {} | {} | {} | {link} |\n", speedup.work, names.join("; "), ratios.join("; "));
    }
    Ok(text)
}

/// The ratio with two significant digits.
fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}x") } else { format!("{ratio:.0}x") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_two_digits() {
        assert_eq!([0.94, 2.25, 9.94, 9.96, 18.4].map(times), ["0.9x", "2.2x", "9.9x", "10x", "18x"]);
    }
}
