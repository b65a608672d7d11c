//! The names of months.

use crate::formats::text::blank;

/// The abbreviated names of the months in capitals, in the order of their bytes, and the number of each month.
#[derive(Debug)]
pub struct Months {
    names: Vec<(Vec<u8>, u8)>,
    upper: [u8; 256],
}

impl Months {
    pub fn new(names: [Vec<u8>; 12], upper: &[u8; 256]) -> Months {
        let capitals = |name: Vec<u8>| {
            name.into_iter()
                .filter(|&byte| byte != b' ' && byte != b'\t')
                .map(|byte| upper[usize::from(byte)])
        };
        let mut names: Vec<(Vec<u8>, u8)> =
            names.into_iter().map(|name| capitals(name).collect()).zip(1..).collect();
        names.sort();
        Months { names, upper: *upper }
    }

    /// The number of the month whose name `text` begins with after blanks, and the length of the name; zeros if there is none. Like GNU
    /// sort, looks for it by halves, so a name that begins with another may not be found.
    pub fn read(&self, text: &[u8]) -> (u8, usize) {
        let text = blank::trimmed(text);
        let (mut low, mut high) = (0, self.names.len());
        while low < high {
            let middle = low.midpoint(high);
            let (name, month) = &self.names[middle];
            let capitals = text.iter().map(|&byte| self.upper[usize::from(byte)]).chain([0]);
            match capitals.zip(name).find(|(byte, of_name)| byte != *of_name) {
                None => return (*month, name.len()),
                Some((byte, of_name)) if byte < *of_name => high = middle,
                Some(_) => low = middle + 1,
            }
        }
        (0, 0)
    }
}
