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
/// cluster needs them. Instead of the keys there may be `AWS_SKIP_SIGNATURE=true` for a public bucket, `AWS_WEB_IDENTITY_TOKEN_FILE`,
/// `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI`, or, for the role of a virtual machine,
/// `AWS_METADATA_ENDPOINT`.
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
        if let Some(advice) =
            missing_credentials(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
        {
            return Err(exec_datafusion_err!("cannot open {url}: {advice}"));
        }
        let bucket = AmazonS3Builder::from_env().with_url(url.as_str()).build();
        let bucket: Arc<dyn ObjectStore> =
            Arc::new(bucket.map_err(|error| DataFusionError::from(error).context(format!("opening {url}")))?);
        self.opened.register_store(url, Arc::clone(&bucket));
        Ok(bucket)
    }
}

/// Variables each of which takes the place of a key and its secret.
const OTHER_CREDENTIALS: [&str; 5] = [
    "AWS_SKIP_SIGNATURE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
];

/// What is missing to open a bucket. Otherwise each request would ask for the role of a virtual machine, for minutes.
fn missing_credentials(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    match (is_set("AWS_ACCESS_KEY_ID"), is_set("AWS_SECRET_ACCESS_KEY")) {
        (true, true) => None,
        (true, false) => Some("AWS_SECRET_ACCESS_KEY is not set"),
        (false, true) => Some("AWS_ACCESS_KEY_ID is not set"),
        (false, false) if OTHER_CREDENTIALS.iter().any(|name| is_set(name)) => None,
        (false, false) => Some(
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set; set them, AWS_SKIP_SIGNATURE=true for a public bucket, or \
             AWS_METADATA_ENDPOINT=http://169.254.169.254 for the role of a virtual machine",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_credentials_are_named() {
        let missing = |set: &[&str]| missing_credentials(|name| set.contains(&name));
        assert_eq!(missing(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]), None);
        assert_eq!(missing(&["AWS_ACCESS_KEY_ID"]), Some("AWS_SECRET_ACCESS_KEY is not set"));
        assert_eq!(missing(&["AWS_SECRET_ACCESS_KEY"]), Some("AWS_ACCESS_KEY_ID is not set"));
        assert_eq!(missing(&["AWS_SKIP_SIGNATURE"]), None);
        assert!(missing(&[]).is_some_and(|advice| {
            advice.contains("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
        }));
    }
}
