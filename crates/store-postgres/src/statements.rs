//! Statements that a connection has prepared.

use crate::error::store_error;
use std::collections::HashMap;
use tokio_postgres::{GenericClient, Statement};
use wheelhouse_durable::store::StoreError;

/// Each is prepared when it is used first.
#[derive(Default)]
pub(crate) struct Statements(HashMap<&'static str, Statement>);

impl Statements {
    pub(crate) async fn get(
        &mut self,
        client: &impl GenericClient,
        sql: &'static str,
    ) -> Result<Statement, StoreError> {
        if let Some(statement) = self.0.get(sql) {
            return Ok(statement.clone());
        }
        let statement = client.prepare(sql).await.map_err(store_error)?;
        self.0.insert(sql, statement.clone());
        Ok(statement)
    }
}
