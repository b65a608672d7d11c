//! Sorts records by two columns: by team, and within a team by score, highest first, with missing scores last.

use sortie::columns::{Column, encode};
use sortie::{Error, Order, Sorter};

#[derive(Debug)]
struct Player {
    name: &'static str,
    team: &'static str,
    score: Option<f64>,
}

fn main() -> Result<(), Error> {
    let players = [
        Player { name: "Ada", team: "red", score: Some(7.5) },
        Player { name: "Grace", team: "blue", score: None },
        Player { name: "Edsger", team: "red", score: Some(9.0) },
        Player { name: "Barbara", team: "blue", score: Some(8.25) },
    ];
    let teams: Vec<_> = players.iter().map(|player| player.team).collect();
    let scores: Vec<_> = players.iter().map(|player| player.score).collect();

    let highest_first = Order { descending: true, ..Order::default() };
    let rows = encode(&[Column::new(&teams, Order::default()), Column::new(&scores, highest_first)])?;
    let mut indices = vec![0usize; players.len()];
    let report = Sorter::builder().build()?.argsort(&rows.strings(), &mut indices)?;

    let sorted: Vec<_> = indices.iter().map(|&place| &players[place]).collect();
    for Player { name, team, score } in &sorted {
        println!("{team:<6} {name:<8} {}", score.map_or("none".into(), |score| score.to_string()));
    }
    println!("{report}");
    let names: Vec<_> = sorted.iter().map(|player| player.name).collect();
    assert_eq!(names, ["Barbara", "Grace", "Edsger", "Ada"]);
    Ok(())
}
