//! Raw arrays from files and pipes.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use sortie_formats::raw::{self, Input};
use sortie_formats::{Error, Kind, Stretches};

fn in_file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file
}

fn in_pipe(bytes: Vec<u8>) -> File {
    let (reader, mut writer) = std::io::pipe().unwrap();
    std::thread::spawn(move || writer.write_all(&bytes));
    File::from(std::os::fd::OwnedFd::from(reader))
}

#[test]
fn files_and_pipes_give_the_same() {
    // Includes sizes that several threads read at a time, and sizes that exceed the first buffer for a pipe.
    for n in [0u32, 1, 3, 300_000, 5_000_000] {
        let numbers: Vec<u32> = (0..n).map(|i| i.wrapping_mul(2_654_435_761)).collect();
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        let noted = AtomicU64::new(0);
        let note = |bytes| _ = noted.fetch_add(bytes, Ordering::Relaxed);
        let from_file =
            raw::read::<u32>(&mut Input::new(in_file(&bytes)).unwrap(), Kind::U32, &note).unwrap();
        let from_pipe = raw::read::<u32>(&mut Input::new(in_pipe(bytes)).unwrap(), Kind::U32, &note).unwrap();
        assert_eq!(noted.into_inner(), 2 * 4 * u64::from(n));
        assert!(from_file == numbers && from_pipe == numbers, "{n} numbers");
    }
}

#[test]
fn a_file_is_read_from_where_it_stands() {
    let mut file = in_file(&[9, 9, 9, 1, 0, 2, 0]);
    file.read_exact(&mut [0; 3]).unwrap();
    assert_eq!(raw::read::<u16>(&mut Input::new(file).unwrap(), Kind::U16, &|_| {}).unwrap(), [1, 2]);
}

#[test]
fn a_piece_of_an_element_is_an_error() {
    for input in [in_file(&[0; 13]), in_pipe(vec![0; 13])] {
        let error = raw::read::<f64>(&mut Input::new(input).unwrap(), Kind::F64, &|_| {}).unwrap_err();
        assert_eq!(
            error.to_string(),
            "13 bytes are not a multiple of 8, the size of f64; the file is cut short or has another type"
        );
    }
}

#[test]
fn stretches_are_the_whole() {
    let numbers: Vec<u32> = (0..100_003u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    for file in [in_file(&bytes), in_pipe(bytes.clone())] {
        let mut stretches = Stretches::raw(Input::new(file).unwrap(), Kind::U32).unwrap();
        let (mut found, mut stretch) = (Vec::new(), [0u32; 1000]);
        loop {
            let count = stretches.next(&mut stretch, &|_| {}).unwrap();
            found.extend_from_slice(&stretch[..count]);
            if count < stretch.len() {
                break;
            }
        }
        assert!(found == numbers);
    }
}

#[test]
fn a_last_element_that_is_not_whole_is_told_of_stretches() {
    let uneven = |error| matches!(error, Error::Uneven { bytes: 7, width: 4, .. });
    assert!(Stretches::raw(Input::new(in_file(&[0; 7])).unwrap(), Kind::U32).is_err_and(uneven));
    let mut stretches = Stretches::raw(Input::new(in_pipe(vec![0; 7])).unwrap(), Kind::U32).unwrap();
    assert!(stretches.next(&mut [0u32; 2], &|_| {}).is_err_and(uneven));
}
