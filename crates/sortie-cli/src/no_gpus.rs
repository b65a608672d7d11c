//! Replaces the modules `devices` and `doctor` in a build without the feature `gpu`.

const HOW_TO_GET_THEM: &str = "this build has no GPUs; build it with `cargo build --release --features gpu`, or install a released archive, \
                               which has them";

pub mod devices {
    use std::num::NonZeroUsize;

    use sortie::Engine;

    use super::HOW_TO_GET_THEM;
    use crate::cli::MemorySize;
    use crate::failure::Failure;

    pub fn list(_: bool) -> Result<String, Failure> {
        Ok(format!("{HOW_TO_GET_THEM}\n"))
    }

    pub fn tune(_: Engine, _: Option<NonZeroUsize>) -> Result<String, Failure> {
        Err(Failure::new(HOW_TO_GET_THEM))
    }

    pub fn check_build(engine: Engine) -> Result<(), &'static str> {
        match engine {
            Engine::Auto | Engine::Cpu => Ok(()),
            _ => Err(HOW_TO_GET_THEM),
        }
    }

    pub fn may_be_chosen(_: Engine, _: Option<MemorySize>) -> bool {
        false
    }
}

pub mod doctor {
    use sortie::Engine;

    use super::HOW_TO_GET_THEM;
    use crate::failure::Failure;

    pub fn run(_: Engine, _: bool) -> Result<(), Failure> {
        Err(Failure::new(HOW_TO_GET_THEM))
    }
}
