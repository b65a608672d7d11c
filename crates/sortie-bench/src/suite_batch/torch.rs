//! torch.sort in a separate process, which times itself with CUDA events and checks its own results. In suite `batch`
//! it draws its own uniform keys from the given seed.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Result;

/// The process, which waits for work.
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
        Torch::of(python)
            .map_err(|_| "python3 cannot import torch; install it with `pip install torch`".into())
    }

    /// A program that prints its version, and then answers each line.
    pub fn of(mut program: Command) -> Result<Torch> {
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = program.spawn()?;
        let to = child.stdin.take().expect("it is piped");
        let from = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut torch = Torch { child, to, from };
        torch.line()?;
        Ok(torch)
    }

    /// The milliseconds of a sort that returns values and indices, and whether the result was correct.
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
        // It ends by itself when its input is closed, but that may take long.
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
