//! Finds the kernels in preprocessed source, and adds entry points that the bench can call.
//!
//! `SIMT_KERNEL(threads, min_blocks) name(...) { ... }` expands to a marker. After the body of each marked function,
//! this module inserts an entry point that takes the arguments as CUDA does. It is on the line of the closing brace, so
//! line numbers do not change.

/// The start of what SIMT_KERNEL expands to in `simt.cuh`.
const MARKER: &str = "::simt::bench::kernel<";

/// The prefix of the symbols of entry points.
pub const ENTRY: &str = "simt_entry_";

/// The preprocessed source with an entry point for each of its kernels, or a description of what is wrong with it.
pub fn with_entries(source: &str) -> Result<String, String> {
    let mut result = String::with_capacity(source.len() + 1024);
    let mut rest = source;
    while let Some(at) = rest.find(MARKER) {
        let (before, marked) = rest.split_at(at);
        result.push_str(before);
        // MARKER(threads), (min_blocks)> name(parameters) { body }
        let threads_end = closing(marked, MARKER.len()).ok_or("a kernel's number of threads does not end")?;
        let threads = &marked[MARKER.len()..=threads_end];
        let name_start =
            marked[threads_end..].find('>').map(|at| threads_end + at + 1).ok_or("a kernel has no name")?;
        let parameters =
            marked[name_start..].find('(').map(|at| name_start + at).ok_or("a kernel has no parameters")?;
        let name = marked[name_start..parameters].trim();
        if name.is_empty() || !name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            return Err(format!("{name:?} is not the name of a kernel"));
        }
        let body = marked[parameters..].find('{').map(|at| parameters + at).ok_or("a kernel has no body")?;
        let end = closing(marked, body).ok_or_else(|| format!("the body of kernel {name} does not end"))?;
        result.push_str(&marked[..=end]);
        result.push_str(&format!(
            " extern \"C\" {{ extern const ::simt::bench::Entry {ENTRY}{name}; \
             const ::simt::bench::Entry {ENTRY}{name} = {{&::simt::bench::Caller<&{name}>::call, {threads}, ::simt::bench::Caller<&{name}>::sizes}}; }}"
        ));
        rest = &marked[end + 1..];
    }
    result.push_str(rest);
    Ok(result)
}

/// Where the bracket or brace at `open` is closed.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    let mut bytes = text.bytes().enumerate().skip(open);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            // A quote between digits is a digit separator.
            b'\'' if at > 0 && text.as_bytes()[at - 1].is_ascii_hexdigit() => {}
            quote @ (b'"' | b'\'') => loop {
                match bytes.next()?.1 {
                    b'\\' => _ = bytes.next(),
                    byte if byte == quote => break,
                    _ => {}
                }
            },
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::with_entries;

    #[test]
    fn every_kernel_gets_an_entry_on_its_last_line() {
        let source = "extern \"C\" ::simt::bench::kernel<(2 * (64)), (1)> first(int* a, int (*b)(int)) {\n\
                      if (a[0] == '}') { a[1'0] = b(\"}\"[0]); }\n}\nint x;\n\
                      extern \"C\" ::simt::bench::kernel<(32), (1)>\nsecond() {}\n";
        let result = with_entries(source).unwrap();
        assert_eq!(result.lines().count(), source.lines().count());
        let line = |n: usize| result.lines().nth(n).unwrap();
        assert!(
            line(2).starts_with("} extern") && line(2).contains("Caller<&first>::call, (2 * (64)), "),
            "{result}"
        );
        assert_eq!(line(3), "int x;");
        assert!(
            line(5).starts_with("second() {} extern") && line(5).contains("simt_entry_second"),
            "{result}"
        );
    }

    #[test]
    fn a_body_that_does_not_end_is_named() {
        let error = with_entries("extern \"C\" ::simt::bench::kernel<(32), (1)> open() { {").unwrap_err();
        assert!(error.contains("open"), "{error}");
    }
}
