//! Sorts a CSV file of any size by a column, within 256 MiB of memory: `csv IN OUT COLUMN`. Columns count from 0, and the first
//! line stays first. A comma in quotes ends a field too.

use std::error::Error;
use std::path::PathBuf;

use sortie_files::Input;
use sortie_files::formats::{Choices, Lines, sort_layout};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let [input, output] = [args.next(), args.next()].map(|path| path.map(PathBuf::from));
    let (input, output) = input.zip(output).ok_or("give IN, OUT and COLUMN")?;
    let column: usize =
        args.next().and_then(|column| column.to_str()?.parse().ok()).ok_or("COLUMN is a number")?;

    let by_column = Lines {
        header: 1,
        key: |line: &[u8], key: &mut Vec<u8>| {
            key.extend_from_slice(line.split(|&byte| byte == b',').nth(column).unwrap_or_default());
        },
    };
    let choices = Choices { memory: Some(256 << 20), ..Choices::default() };
    let report = sort_layout(&by_column, vec![Input::named(&input)], Some(&output), &choices)?;
    println!("{report}");
    Ok(())
}
