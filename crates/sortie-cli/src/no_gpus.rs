//! Replaces the modules `devices` and `doctor` in a build without the feature `gpu`.

pub mod devices {
    use std::num::NonZeroUsize;

    use sortie::Engine;

    use crate::cli::{MemorySize, NO_GPUS};
    use crate::failure::Failure;

    pub fn list(_: bool) -> Result<String, Failure> {
        Ok(format!("{NO_GPUS}\n"))
    }

    pub fn tune(_: Engine, _: Option<NonZeroUsize>) -> Result<String, Failure> {
        Err(Failure::new(NO_GPUS))
    }

    pub fn may_be_chosen(_: Engine, _: Option<MemorySize>) -> bool {
        false
    }
}

pub mod doctor {
    use sortie::Engine;

    use crate::cli::NO_GPUS;
    use crate::failure::Failure;

    pub fn run(_: Engine, _: bool) -> Result<(), Failure> {
        Err(Failure::new(NO_GPUS))
    }
}
