//! [`Stores`]: where tables and results can be.

use std::sync::Arc;

use datafusion::common::{DataFusionError, Result, exec_datafusion_err};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use url::Url;

/// Local files, and the S3-compatible stores that the environment describes.
///
/// A bucket is opened when a URL first names it, by the variables that AWS's own programs have: `AWS_ACCESS_KEY_ID`,
/// `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`, and `AWS_ALLOW_HTTP` for a store without TLS. Every process of a
/// cluster needs them.
#[derive(Debug, Default)]
pub struct Stores {
    opened: DefaultObjectStoreRegistry,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.opened.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if let Ok(store) = self.opened.get_store(url) {
            return Ok(store);
        }
        if url.scheme() != "s3" {
            return Err(exec_datafusion_err!(
                "{url}: there is no store for `{}`; name local files, or a bucket as s3://BUCKET/PATH",
                url.scheme()
            ));
        }
        let bucket = AmazonS3Builder::from_env().with_url(url.as_str()).build();
        let bucket: Arc<dyn ObjectStore> =
            Arc::new(bucket.map_err(|error| DataFusionError::from(error).context(format!("opening {url}")))?);
        self.opened.register_store(url, Arc::clone(&bucket));
        Ok(bucket)
    }
}
