//! [`Connections`]: those of an executor to the others. Ballista's own pool cannot be named from outside.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ballista_core::client::BallistaClient;
use ballista_core::client_pool::{BallistaClientPool, PooledClient};
use ballista_core::error::Result;
use ballista_core::extension::BallistaConfigGrpcEndpoint;
use ballista_core::utils::GrpcClientConfig;

/// Idle connections, by what they were opened with.
#[derive(Clone, Default)]
pub(crate) struct Connections {
    idle: Arc<Mutex<HashMap<Endpoint, Vec<Idle>>>>,
}

type Endpoint = (String, u16, GrpcClientConfig);

struct Idle {
    client: BallistaClient,
    since: Instant,
}

/// How long an idle connection is kept. Ballista's default.
const IDLE_TIME: Duration = Duration::from_secs(30);

impl Connections {
    fn idle(&self) -> MutexGuard<'_, HashMap<Endpoint, Vec<Idle>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close_old(&self) {
        self.idle().retain(|_, clients| {
            clients.retain(|idle| idle.since.elapsed() < IDLE_TIME);
            !clients.is_empty()
        });
    }
}

impl std::fmt::Debug for Connections {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Connections({} endpoints)", self.idle().len())
    }
}

#[async_trait]
impl BallistaClientPool for Connections {
    async fn acquire(
        &self,
        host: &str,
        port: u16,
        config: &GrpcClientConfig,
        customized: Option<Arc<BallistaConfigGrpcEndpoint>>,
    ) -> Result<PooledClient> {
        self.close_old();
        let endpoint = (host.to_owned(), port, config.clone());
        let idle = self.idle().get_mut(&endpoint).and_then(Vec::pop);
        let client = match idle {
            Some(idle) => idle.client,
            None => {
                BallistaClient::try_new(
                    host,
                    port,
                    config.max_message_size,
                    config.use_tls,
                    customized,
                    config.io_retries_times,
                    config.io_retry_wait_time_ms,
                    config.initial_connection_window_size,
                    config.initial_stream_window_size,
                )
                .await?
            }
        };
        let connections = self.clone();
        let give_back = move |client| {
            let idle = Idle { client, since: Instant::now() };
            connections.idle().entry(endpoint).or_default().push(idle);
        };
        Ok(PooledClient::new(client, Box::new(give_back)))
    }

    async fn evict_idle(&self) {
        self.close_old();
    }
}
