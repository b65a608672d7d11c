//! Processes of the program.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(240);
/// After how many seconds the scheduler gives an executor up.
const TIMEOUT: &str = "10";

/// The program, which heeds a hangup even where the tests run under `nohup`.
pub fn program() -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_sortie-cluster")]);
    command.stdin(Stdio::null());
    command
}

/// A process that ends with its owner.
pub struct Process(Child);

impl Process {
    pub fn start(command: &mut Command) -> Process {
        Process(command.spawn().expect("the program starts"))
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).expect("the process is alive");
    }

    pub fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    pub fn wait(&mut self) -> ExitStatus {
        let start = Instant::now();
        while self.is_running() {
            assert!(start.elapsed() < LIMIT, "the program hangs");
            thread::sleep(Duration::from_millis(20));
        }
        self.0.wait().unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a command has printed, and whether it succeeded.
#[derive(Debug)]
pub struct Outcome {
    pub succeeded: bool,
    pub out: String,
    pub err: String,
}

/// A client that runs.
pub struct Client {
    process: Process,
    out: thread::JoinHandle<String>,
    err: thread::JoinHandle<String>,
}

impl Client {
    pub fn start(command: &mut Command) -> Client {
        let mut process = Process::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let out = reader(process.0.stdout.take().unwrap());
        let err = reader(process.0.stderr.take().unwrap());
        Client { process, out, err }
    }

    pub fn signal(&self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Waits until something is so, which it must be before the client ends.
    pub fn until(&mut self, is_so: impl Fn() -> bool) {
        while !is_so() {
            assert!(self.process.is_running(), "the client ended too early");
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn outcome(mut self) -> Outcome {
        let succeeded = self.process.wait().success();
        Outcome { succeeded, out: self.out.join().unwrap(), err: self.err.join().unwrap() }
    }
}

fn reader(mut from: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        from.read_to_string(&mut text).unwrap();
        text
    })
}

/// Runs a client to its end.
pub fn run(arguments: &[impl AsRef<OsStr>]) -> Outcome {
    Client::start(program().args(arguments)).outcome()
}

/// A scheduler, and executors with one task at a time.
pub struct Cluster {
    pub address: String,
    pub scheduler: Process,
    pub executors: Vec<Process>,
    folder: TempDir,
    // The scheduler could not print if nobody had the other end.
    _printed: BufReader<ChildStdout>,
}

impl Cluster {
    pub fn start(executors: usize) -> Cluster {
        Cluster::start_with(executors, program)
    }

    /// The executors are started by another command, which passes its arguments to the program.
    pub fn start_with(executors: usize, command: impl Fn() -> Command) -> Cluster {
        let scheduler = ["scheduler", "--bind", "127.0.0.1:0", "--executor-timeout", TIMEOUT];
        let mut scheduler = Process::start(program().args(scheduler).stdout(Stdio::piped()));
        let mut printed = BufReader::new(scheduler.0.stdout.take().unwrap());
        let mut line = String::new();
        printed.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").expect("the address").to_owned();
        let mut cluster = Cluster {
            address,
            scheduler,
            executors: vec![],
            folder: tempfile::tempdir().unwrap(),
            _printed: printed,
        };
        for i in 0..executors {
            let mut command = command();
            command.args(["executor", "--tasks", "1", "--memory", "64", "--scheduler", &cluster.address]);
            command.arg("--work-dir").arg(cluster.work_dir(i));
            cluster.executors.push(Process::start(&mut command));
        }
        cluster
    }

    /// Where an executor keeps rows.
    pub fn work_dir(&self, executor: usize) -> PathBuf {
        self.folder.path().join(executor.to_string())
    }

    /// The names of the jobs that have left something with an executor.
    pub fn jobs(&self, executor: usize) -> Vec<String> {
        let folders = |folder| std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut own = folders(self.work_dir(executor));
        let jobs = own.next().into_iter().flat_map(|own| folders(own.path().join("rows")));
        let jobs = jobs.map(|folder| folder.file_name().to_string_lossy().into_owned());
        jobs.filter(|name| !name.starts_with("datafusion-")).collect()
    }

    pub fn sort(&self, input: &Path, by: &str, output: &Path, parts: u32) -> Client {
        let mut command = program();
        command.args(["sort", "--scheduler", &self.address, "--by", by, "--parts", &parts.to_string()]);
        Client::start(command.arg(input).arg("-o").arg(output))
    }
}
