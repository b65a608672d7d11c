//! Shared by the tests of the bench: programs of one source file that use `simt.cuh`, and a function to run them.

#![allow(dead_code)]

use sortie_device::{Device, Error, Launch, Program};

const HEADERS: &[(&str, &str)] = &[("simt.cuh", include_str!("../../../sortie/kernels/common/simt.cuh"))];

pub fn program(name: &str, source: &'static str, defines: &[(&str, u32)]) -> Program {
    let defines = defines.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Program { name: name.into(), source, headers: HEADERS, defines, overlaps: false }
}

/// Runs a kernel that takes `data` and its length.
pub fn run(
    device: &Device,
    program: &Program,
    kernel: &str,
    launch: Launch,
    data: &mut [u32],
) -> Result<(), Error> {
    let stream = device.stream()?;
    let buffer = device.alloc::<u32>(data.len())?;
    stream.copy_in(buffer.view(), data)?;
    let kernel = device.load(program)?.kernel(kernel)?;
    // SAFETY: these are the arguments that such kernels take.
    unsafe { kernel.launch(&stream, launch, (&buffer, data.len() as u32))? };
    stream.copy_out(data, buffer.view())
}

/// The line of `source` that contains `text`, as the bench names it.
pub fn line(name: &str, source: &str, text: &str) -> String {
    let line = source.lines().position(|line| line.contains(text)).expect("the text is in the source");
    format!("{name}.cu:{}", line + 1)
}
