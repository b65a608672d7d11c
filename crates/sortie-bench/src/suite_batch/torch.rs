//! torch.sort, in a process of its own, which times itself with the device's events and checks its own results. In suite
//! `batch` it draws its own keys, uniform from the seed it is given.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Result;

/// The process, waiting for work.
#[derive(Debug)]
pub struct Torch {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Torch {
    /// Starts one of the scripts in `peers/`.
    pub fn start(script: &str) -> Result<Torch> {
        let mut python = Command::new("python3");
        python.args(["-c", script]);
        Torch::of(python).map_err(|_| "python3 cannot import torch; `pip install torch` brings it".into())
    }

    /// A program that says its version, then answers line by line.
    pub fn of(mut program: Command) -> Result<Torch> {
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = program.spawn()?;
        let to = child.stdin.take().expect("it is piped");
        let from = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut torch = Torch { child, to, from };
        torch.line()?;
        Ok(torch)
    }

    /// Milliseconds of a sort of values and indices, and whether the result was right.
    pub fn sort(&mut self, segments: u64, length: u64, seed: u64) -> Result<(f64, bool)> {
        let line = self.ask(&format!("{segments} {length} {seed}"))?;
        match line.split_once(' ') {
            Some((verdict @ ("right" | "wrong"), ms)) => Ok((ms.parse()?, verdict == "right")),
            _ => Err(line.into()),
        }
    }

    /// The answer to a line.
    pub fn ask(&mut self, line: &str) -> Result<String> {
        writeln!(self.to, "{line}")?;
        self.line()
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        match line.trim_end() {
            "" => Err("its process ended".into()),
            line => Ok(line.into()),
        }
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        // It ends by itself when nobody can ask any more, but perhaps not soon.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Torch> {
        let mut sh = Command::new("sh");
        sh.args(["-c", script]);
        Torch::of(sh)
    }

    #[test]
    fn answers_are_times_or_errors() {
        let mut torch =
            shell("echo 2.11; read a b c; echo wrong 1.5; read a b c; echo error: $a $b $c; read a").unwrap();
        assert_eq!(torch.sort(1, 2, 3).unwrap(), (1.5, false));
        assert_eq!(torch.sort(4, 5, 6).unwrap_err().to_string(), "error: 4 5 6");
        assert!(shell("exit 1").is_err(), "it never answered");
    }
}
