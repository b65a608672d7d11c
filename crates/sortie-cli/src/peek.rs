//! The first bytes of an open file, which stay there to be read.

use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{SeekFrom, seek};
use rustix::io::{pread, read};
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, tee};

/// How long to wait for more, where a writer has sent less than is asked for.
const PATIENCE: Duration = Duration::from_millis(1);

/// Whether the next bytes of `file` are `expected`. Of a pipe they are waited for. A terminal or a socket has none that
/// could be seen without being read.
pub fn begins_with(file: &File, expected: &[u8]) -> bool {
    let mut seen = vec![0; expected.len()];
    let count = match seek(file, SeekFrom::Current(0)) {
        Ok(at) => pread(file, &mut seen[..], at).unwrap_or(0),
        Err(_) => return pipe_begins_with(file, expected).unwrap_or(false),
    };
    seen[..count] == *expected
}

fn pipe_begins_with(file: &File, expected: &[u8]) -> io::Result<bool> {
    let mut seen = vec![0; expected.len()];
    let mut ended = false;
    loop {
        let (copy, to) = pipe_with(PipeFlags::CLOEXEC)?;
        let count = tee(file, &to, expected.len(), SpliceFlags::empty())?;
        let count = if count == 0 { 0 } else { read(&copy, &mut seen[..])? };
        if ended || count == 0 || count == expected.len() || seen[..count] != expected[..count] {
            return Ok(seen[..count] == *expected);
        }
        // A writer that has sent a part may send the rest, and even then end.
        let mut polled = [PollFd::new(file, PollFlags::IN)];
        poll(&mut polled, None)?;
        ended = polled[0].revents().contains(PollFlags::HUP);
        if !ended {
            thread::sleep(PATIENCE);
        }
    }
}
