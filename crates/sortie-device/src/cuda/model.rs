//! Finds out which GPUs the machine has from the driver's kernel module, without starting the driver.

use std::fs;
use std::path::Path;

const GPUS: &str = "/proc/driver/nvidia/gpus";

/// The model name of all GPUs of this machine, from a few small files. `None` if there is no GPU, if the models differ,
/// or if `CUDA_VISIBLE_DEVICES` hides all GPUs.
pub fn model() -> Option<String> {
    let hides_all = |visible: std::ffi::OsString| visible.is_empty() || visible == "-1";
    if std::env::var_os("CUDA_VISIBLE_DEVICES").is_some_and(hides_all) {
        return None;
    }
    model_in(Path::new(GPUS))
}

fn model_in(folder: &Path) -> Option<String> {
    let mut models = Vec::new();
    for gpu in fs::read_dir(folder).ok()? {
        let text = fs::read_to_string(gpu.ok()?.path().join("information")).ok()?;
        models.push(text.lines().find_map(|line| line.strip_prefix("Model:"))?.trim().to_owned());
    }
    models.dedup();
    if models.len() == 1 { models.pop() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_model_is_told() {
        let folder = std::env::temp_dir().join(format!("sortie-model-{}", std::process::id()));
        let add = |number: &str, model: &str| {
            let gpu = folder.join(number);
            fs::create_dir_all(&gpu).unwrap();
            fs::write(gpu.join("information"), format!("Model: \t\t {model}\nIRQ:   \t\t 41\n")).unwrap();
        };
        assert_eq!(model_in(&folder), None);
        add("0000:00:06.0", "NVIDIA H200");
        add("0000:00:07.0", "NVIDIA H200");
        assert_eq!(model_in(&folder).as_deref(), Some("NVIDIA H200"));
        add("0000:00:08.0", "NVIDIA L4");
        assert_eq!(model_in(&folder), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
