//! Names positions in code by file and line.

use std::path::Path;

use addr2line::Loader;

/// Replaces each address in a message, which is between \1 and \2, with its file and line.
pub fn named(message: &str, library: &Path, base: u64) -> String {
    let loader = Loader::new(library).ok();
    let mut result = String::new();
    let mut rest = message;
    while let Some((before, marked)) = rest.split_once('\u{1}') {
        let Some((address, after)) = marked.split_once('\u{2}') else { break };
        result.push_str(before);
        let address = u64::from_str_radix(address, 16).unwrap_or(0);
        // The address is a return address; the call is just before it.
        let line = loader.as_ref().and_then(|loader| line_of(loader, address.wrapping_sub(base + 1)));
        result.push_str(&line.unwrap_or_else(|| format!("{address:#x}")));
        rest = after;
    }
    result + rest
}

/// The line in the kernel. Lines of `simt.cuh`, whose functions are inlined into kernels, are skipped.
fn line_of(loader: &Loader, address: u64) -> Option<String> {
    let mut frames = loader.find_frames(address).ok()?;
    let mut found = None;
    while let Ok(Some(frame)) = frames.next() {
        let Some(location) = frame.location else { continue };
        let (Some(file), Some(line)) = (location.file, location.line) else { continue };
        let file = file.rsplit('/').next().unwrap_or(file);
        found = Some(format!("{file}:{line}"));
        if !file.starts_with("simt") || !file.ends_with("h") {
            break;
        }
    }
    found
}
