//! The oracle keeps the contract: what the suite measures by passes the suite.

wheelhouse_conformance::suite!(wheelhouse_conformance::OracleDefinition);
