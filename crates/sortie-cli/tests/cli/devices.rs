//! `sortie devices`.

use std::process::Command;

#[test]
fn lists_devices_or_says_why_there_is_none() {
    for options in [&["devices"][..], &["devices", "--measure"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_sortie")).args(options).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        println!("{text}");
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let listed = text.starts_with("cuda:0 ") && text.contains("memory: ") && text.contains("driver: ");
        let explained = ["no CUDA driver: ", "no CUDA device: "].iter().any(|start| text.starts_with(start));
        assert!(listed ^ explained);
        assert!(text.contains("NVRTC: ") || text.contains("no compiler for kernels: "));
        assert!(explained || text.contains("both at once: ") || options.len() == 1);
    }
}
