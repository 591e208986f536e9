//! How statements are sent to a session.

use crate::error::{Result, store_error};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{GenericClient, Row, Statement};

/// A parameter of a statement, with its type. Without types, the client would ask the server for
/// them by a named statement, which may be missing in the next session that a pooler lends.
pub(crate) type Parameter<'p> = (&'p (dyn ToSql + Sync), Type);

/// A value that is sent as this type.
pub(crate) trait Typed: ToSql + Sync + Sized {
    const TYPE: Type;
}

macro_rules! typed {
    ($($value:ty => $type:ident,)*) => {
        $(impl Typed for $value {
            const TYPE: Type = Type::$type;
        })*
    };
}

typed! {
    bool => BOOL,
    i64 => INT8,
    Option<i64> => INT8,
    &str => TEXT,
    &[u8] => BYTEA,
    &[&str] => TEXT_ARRAY,
    Vec<&str> => TEXT_ARRAY,
    Vec<String> => TEXT_ARRAY,
    Vec<&[u8]> => BYTEA_ARRAY,
    Vec<i16> => INT2_ARRAY,
    Vec<i32> => INT4_ARRAY,
    Vec<i64> => INT8_ARRAY,
    Vec<Option<i64>> => INT8_ARRAY,
}

pub(crate) fn param<T: Typed>(value: &T) -> Parameter<'_> {
    (value, T::TYPE)
}

/// An array of values as parameters.
macro_rules! parameters {
    ($($value:expr),+) => {
        [$($crate::statements::param(&$value)),+]
    };
}

pub(crate) use parameters;

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
    pub(crate) async fn query(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<Vec<Row>> {
        let rows = match self.prepared {
            None => self.client.query_typed(sql, parameters).await,
            Some(prepared) => {
                let statement = prepared.statement(self.client, sql, parameters).await?;
                let values: Vec<_> = parameters.iter().map(|(value, _)| *value).collect();
                self.client.query(&statement, &values).await
            }
        };
        rows.map_err(store_error)
    }
}

impl Prepared {
    async fn statement(
        &self,
        client: &impl GenericClient,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Statement> {
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
