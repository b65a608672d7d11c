//! Parses the report of `ptxas -v` on a program.

/// A function of the program: a kernel, or one that was not inlined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Function {
    pub name: String,
    /// The local memory of each thread in bytes: spilled registers, and arrays that are not in registers.
    pub frame: usize,
    /// The bytes of the instructions that write spilled registers, and of those that read them.
    pub spilled: [usize; 2],
    /// The number of registers, for a kernel.
    pub registers: Option<usize>,
    /// The static shared memory of a kernel in bytes.
    pub shared: usize,
}

/// The functions in a report.
pub fn parse(report: &str) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for line in report.lines() {
        if let Some((_, name)) = line.split_once("Function properties for ") {
            functions.push(Function { name: name.trim().into(), ..Function::default() });
        }
        let Some(function) = functions.last_mut() else { continue };
        if line.contains("bytes stack frame") {
            function.frame = before(line, " bytes stack frame").unwrap_or(0);
            function.spilled =
                [" bytes spill stores", " bytes spill loads"].map(|unit| before(line, unit).unwrap_or(0));
        } else if line.contains("Used ") {
            function.registers = before(line, " registers");
            function.shared = before(line, " bytes smem").unwrap_or(0);
        }
    }
    functions
}

/// The number before these words.
fn before(line: &str, words: &str) -> Option<usize> {
    let (before, _) = line.split_once(words)?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
fn a_report_is_read() {
    // Output of ptxas 13.5 for a kernel with a function that was not inlined, and for one with a static array.
    let report = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'b' for 'sm_90'
ptxas info    : Function properties for b
    80 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 29 registers, used 0 barriers, 80 bytes cumulative stack size
ptxas info    : Compile time = 4.441 ms
ptxas info    : Function properties for _Z1fPii
    0 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'a' for 'sm_90'
ptxas info    : Function properties for a
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 1200 bytes smem
";
    let function = |name: &str, frame, spilled, registers, shared| Function {
        name: name.into(),
        frame,
        spilled,
        registers,
        shared,
    };
    assert_eq!(
        parse(report),
        [
            function("b", 80, [12, 16], Some(29), 0),
            function("_Z1fPii", 0, [4, 0], None, 0),
            function("a", 0, [0, 0], Some(10), 1200),
        ]
    );
}
