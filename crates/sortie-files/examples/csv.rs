//! Sorts a CSV file of any size by columns, within 256 MiB of memory: `csv IN OUT KEYS`. `price:number:desc,name` are keys.

use std::error::Error;
use std::path::PathBuf;

use sortie_files::Input;
use sortie_files::formats::tables::{ColumnKey, Table};
use sortie_files::formats::{Choices, sort_layout};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let [input, output] = [args.next(), args.next()].map(|path| path.map(PathBuf::from));
    let (input, output) = input.zip(output).ok_or("give IN, OUT and KEYS")?;
    let keys = args.next().and_then(|keys| keys.into_string().ok()).ok_or("give KEYS")?;

    let table = Table::by(ColumnKey::list(&keys)?);
    let choices = Choices { memory: Some(256 << 20), ..Choices::default() };
    let report = sort_layout(&table, vec![Input::named(&input)], Some(&output), &choices)?;
    table.surprises().iter().for_each(|line| eprintln!("{line}"));
    println!("{report}");
    Ok(())
}
