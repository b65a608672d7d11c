//! Replaces the module `on_gpus` in a build without the feature `gpu`.

use super::route::on_the_cpu;
use super::{Machine, Plan, Reason};
use crate::capability::Capability;
use crate::request::Request;
use crate::{Engine, Error};

/// Plans a request that the capability table allows.
pub(super) fn plan(request: &Request, machine: &Machine, _: &Capability) -> Result<Plan, Error> {
    match request.engine {
        Engine::Auto => Ok(on_the_cpu(request, machine, Reason::NoGpu)),
        Engine::Cpu => Ok(on_the_cpu(request, machine, Reason::Named)),
        _ => Err(Error::Unsupported(
            "this build of sortie has no GPU engine; enable the feature gpu, or choose the CPU".into(),
        )),
    }
}
