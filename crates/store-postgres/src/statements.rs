//! How statements are sent to a session.

use crate::error::store_error;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{GenericClient, Row, Statement};
use wheelhouse_durable::store::StoreError;

/// A parameter of a statement, with its type. Without types, the client would ask the server for
/// them by a named statement, which may be missing in the next session that a pooler lends.
pub(crate) type Parameter<'p> = (&'p (dyn ToSql + Sync), Type);

/// The statements that the server has prepared for a session, by their text.
#[derive(Default)]
pub(crate) struct Prepared(Mutex<HashMap<String, Statement>>);

/// A session, and how statements are sent to it.
pub(crate) struct Statements<'c, C> {
    pub(crate) client: &'c C,
    /// With these the server parses and plans a statement once in a session, which takes longer
    /// than a small statement itself. `None` if the session may belong to another program later.
    pub(crate) prepared: Option<&'c Prepared>,
}

impl<C: GenericClient> Statements<'_, C> {
    pub(crate) async fn query(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let Some(prepared) = self.prepared else {
            return self.client.query_typed(sql, parameters).await.map_err(store_error);
        };
        let statement = prepared.statement(self.client, sql, parameters).await?;
        self.client.query(&statement, &values(parameters)).await.map_err(store_error)
    }

    /// Returns the number of rows that the statement has written.
    pub(crate) async fn execute(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<u64, StoreError> {
        let Some(prepared) = self.prepared else {
            return self.client.execute_typed(sql, parameters).await.map_err(store_error);
        };
        let statement = prepared.statement(self.client, sql, parameters).await?;
        self.client.execute(&statement, &values(parameters)).await.map_err(store_error)
    }
}

fn values<'p>(parameters: &[Parameter<'p>]) -> Vec<&'p (dyn ToSql + Sync)> {
    parameters.iter().map(|(value, _)| *value).collect()
}

impl Prepared {
    async fn statement(
        &self,
        client: &impl GenericClient,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Statement, StoreError> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(statement) = lock().get(sql) {
            return Ok(statement.clone());
        }
        let types: Vec<Type> = parameters.iter().map(|(_, its)| its.clone()).collect();
        let statement = client.prepare_typed(sql, &types).await.map_err(store_error)?;
        lock().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}
