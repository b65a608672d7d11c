//! Replaces `on_gpus.rs` in a build without the feature `gpu`: no plan has a GPU.

use super::{Sorter, machine_without_gpu};
use crate::key::Code;
use crate::plan::{self, CpuWay, Machine};
use crate::request::Request;
use crate::{Error, Index, Report, Segments};

/// What carries out a plan: the CPU.
pub struct Planned {
    pub on_gpus: Option<OnGpus>,
    pub on_cpu: Option<CpuWay>,
}

/// The GPUs of a plan: never any in this build.
pub enum OnGpus {}

pub(super) fn machine_to_explain(_: &Request) -> Result<Machine, Error> {
    Ok(machine_without_gpu().clone())
}

pub(super) fn may_take(_: &Request) -> bool {
    false
}

pub(super) fn planned(request: &Request) -> Result<Planned, Error> {
    // `plan` refuses GPU engines.
    if request.engine.has_gpu() {
        plan::plan(request, machine_without_gpu())?;
    }
    plan::check(request)?;
    Ok(Planned { on_gpus: None, on_cpu: Some(CpuWay::of(request)) })
}

impl OnGpus {
    pub fn abandon(&self, _: &Error) {
        match *self {}
    }
}

impl Sorter {
    pub(super) fn keys_on_gpus<B>(&self, on: &OnGpus, _: &mut [B], _: Code) -> Result<Report, Error> {
        match *on {}
    }

    pub(super) fn pairs_on_gpus<B, V>(
        &self,
        on: &OnGpus,
        _: &mut [B],
        _: &mut [V],
        _: Code,
    ) -> Result<Report, Error> {
        match *on {}
    }

    pub(super) fn argsort_on_gpus<B, I: Index>(
        &self,
        on: &OnGpus,
        _: &[B],
        _: &mut [I],
        _: Code,
    ) -> Result<Report, Error> {
        match *on {}
    }

    pub(super) fn segments_of_keys_on_gpu<B>(
        &self,
        on: &OnGpus,
        _: &mut [B],
        _: Segments<'_>,
        _: Code,
    ) -> Result<Report, Error> {
        match *on {}
    }

    pub(super) fn segments_of_pairs_on_gpu<B, V>(
        &self,
        on: &OnGpus,
        _: &mut [B],
        _: &mut [V],
        _: Segments<'_>,
        _: Code,
    ) -> Result<Report, Error> {
        match *on {}
    }

    pub(super) fn argsort_segments_on_gpu<B, I: Index>(
        &self,
        on: &OnGpus,
        _: &[B],
        _: &mut [I],
        _: Segments<'_>,
        _: Code,
    ) -> Result<Report, Error> {
        match *on {}
    }

    pub(super) fn sort_strings_on_gpu<S>(
        &self,
        on: &OnGpus,
        _: &mut [S],
        _: &(impl Fn(&S) -> &[u8] + Sync),
        _: usize,
    ) -> Result<Report, Error> {
        match *on {}
    }

    pub(super) fn strings_on_gpu<S, I: Index>(
        &self,
        on: &OnGpus,
        _: &[S],
        _: &(impl Fn(&S) -> &[u8] + Sync),
        _: &mut [I],
        _: usize,
    ) -> Result<Report, Error> {
        match *on {}
    }
}
