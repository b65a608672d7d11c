//! [`SortieCodec`]: plans of a [`Sort`](crate::Sort) on the network.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF, WindowUDF};
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use prost::Message;

use crate::step::{SortStepExec, StepMessage};

/// Ballista's codec, and the operators of [`Sort`](crate::Sort) besides. Schedulers, executors and clients of one cluster need it
/// in one version.
#[derive(Debug, Default)]
pub struct SortieCodec {
    ballista: BallistaPhysicalExtensionCodec,
}

/// What our operators begin with. It is no start of a Protocol Buffers message that has fields: `s` would open a group.
const MARK: &[u8] = b"sortie-1";

impl PhysicalExtensionCodec for SortieCodec {
    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(bytes) = bytes.strip_prefix(MARK) else {
            return self.ballista.try_decode(bytes, inputs, context, converter);
        };
        let message = StepMessage::decode(bytes).map_err(|error| DataFusionError::External(error.into()))?;
        match (message.step, inputs) {
            (Some(step), [input]) => Ok(Arc::new(SortStepExec::new(step, Arc::clone(input)))),
            _ => Err(internal_datafusion_err!("a step of a sort that this version does not know")),
        }
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(step) = node.downcast_ref::<SortStepExec>() else {
            return self.ballista.try_encode(node, bytes, converter);
        };
        bytes.extend_from_slice(MARK);
        let message = StepMessage { step: Some(step.step().clone()) };
        message.encode(bytes).map_err(|error| DataFusionError::External(error.into()))
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        self.ballista.try_decode_udf(name, bytes)
    }

    fn try_encode_udf(&self, node: &ScalarUDF, bytes: &mut Vec<u8>) -> Result<()> {
        self.ballista.try_encode_udf(node, bytes)
    }

    fn try_decode_udaf(&self, name: &str, bytes: &[u8]) -> Result<Arc<AggregateUDF>> {
        self.ballista.try_decode_udaf(name, bytes)
    }

    fn try_encode_udaf(&self, node: &AggregateUDF, bytes: &mut Vec<u8>) -> Result<()> {
        self.ballista.try_encode_udaf(node, bytes)
    }

    fn try_decode_udwf(&self, name: &str, bytes: &[u8]) -> Result<Arc<WindowUDF>> {
        self.ballista.try_decode_udwf(name, bytes)
    }

    fn try_encode_udwf(&self, node: &WindowUDF, bytes: &mut Vec<u8>) -> Result<()> {
        self.ballista.try_encode_udwf(node, bytes)
    }
}
