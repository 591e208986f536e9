//! The effect of each error code of a server on a call, on a real server.

use crate::error::{Result, Retry, store_error};
use crate::session::{Scope, Session};
use crate::statements::Statements;
use crate::{Builder, PostgresStore};
use std::cell::{Cell, RefCell};
use std::error::Error;
use tokio_postgres::Client;
use wheelhouse_test_servers::Server;

/// Another transaction has interfered, or an earlier statement has failed.
const CONFLICTS: [&str; 6] = ["40001", "40P01", "40002", "25P02", "55P03", "23505"];

/// The connection, the server or its role is the cause.
const AWAY: [&str; 14] = [
    "08000", "08003", "08006", "57P01", "57P02", "57P03", "57P04", "57P05", "57014", "26000",
    "25P03", "25P04", "53300", "25006",
];

/// Codes that a retry does not help, with a part of the message that the caller gets.
const LASTING: [(&str, &str); 10] = [
    ("53100", "free space on the server's disk"),
    ("22P05", "in a database whose encoding is UTF8"),
    ("22003", "raised"),
    ("0A000", "raised"),
    ("54000", "raised"),
    ("28P01", "check the URL"),
    ("3D000", "check the URL"),
    ("42501", "use the schema `wheelhouse`"),
    ("42P01", "is another program's"),
    ("XX001", "restore it from a copy"),
];

/// A session on the shared server; `None` if PostgreSQL is not installed.
fn session() -> Option<Session> {
    let url = Server::shared_postgres()?.url();
    Some(Session::open(PostgresStore::builder(&url, "orders").unwrap()).unwrap())
}

/// Makes a call whose first attempt fails, and whose second one succeeds. Returns the effect of the
/// error, and its text.
fn effect(
    session: &mut Session,
    scope: Scope,
    fail: impl AsyncFn(&Client) -> Result<(), tokio_postgres::Error>,
) -> (Retry, String) {
    let (attempts, text) = (RefCell::new(Vec::new()), Cell::default());
    let call = async |its: Statements<'_, Client>, _: &Builder, exclusive| {
        let client = its.client;
        let row = client.query_typed_one("SELECT pg_backend_pid()", &[]).await;
        let process: i32 = row.and_then(|row| row.try_get(0)).map_err(store_error)?;
        attempts.borrow_mut().push((process, exclusive));
        if attempts.borrow().len() > 1 {
            return Ok(());
        }
        let error = fail(client).await.map_err(store_error).expect_err("the attempt fails");
        text.set(error.to_string());
        Err(error)
    };
    let answer = session.run(scope, call);
    let attempts = attempts.into_inner();
    let how = match (&attempts[..], &answer) {
        ([_], Err(_)) => Retry::Never,
        ([(one, false), (other, true)], Ok(())) if one == other => Retry::SameConnection,
        ([(one, false), (other, false)], Ok(())) if one != other => Retry::NewConnection,
        other => panic!("{other:?} after {}", text.take()),
    };
    (how, text.take())
}

/// Checks the effect of a code on a call, and that its error contains `texts` and none of `not`.
fn check(scope: Scope, code: &str, how: Retry, texts: &[&str], not: &[&str]) {
    let Some(mut session) = session() else { return };
    let raise = format!("DO $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = '{code}'; END $$");
    let (found, text) =
        effect(&mut session, scope, async |client| client.batch_execute(&raise).await);
    assert_eq!(found, how, "{code}: {text}");
    assert!(texts.iter().all(|part| text.contains(part)), "{code}: {text}");
    assert!(not.iter().all(|part| !text.contains(part)), "{code}: {text}");
}

#[test]
fn conflicts_are_repeated_on_the_same_connection() {
    let (texts, not) = (["raised; roll back and try again"], ["cannot be reached", "read-only"]);
    for code in CONFLICTS {
        for scope in [Scope::Transaction, Scope::Write] {
            check(scope, code, Retry::SameConnection, &texts, &not);
        }
    }
}

#[test]
fn a_server_that_is_away_is_left_for_a_new_connection() {
    for code in AWAY {
        let message = if code == "25006" { "connect to the primary" } else { "cannot be reached" };
        check(Scope::Transaction, code, Retry::NewConnection, &[message, "raised"], &[]);
    }
}

/// A statement that is its own commit may have been carried out when its connection ends. One that
/// the server has refused was not.
#[test]
fn a_commit_of_one_statement_is_repeated_if_it_was_refused() {
    for code in AWAY {
        let may_have_been_carried_out = code.starts_with("08") || code.starts_with("57P");
        let right = if may_have_been_carried_out { Retry::Never } else { Retry::NewConnection };
        check(Scope::Write, code, right, &[], &[]);
    }
}

#[test]
fn errors_that_last_are_told_at_once() {
    for (code, message) in LASTING {
        check(Scope::Transaction, code, Retry::Never, &[message, "raised"], &[]);
    }
}

/// A statement that the server has prepared returns other columns since the table was changed.
#[test]
fn a_statement_of_changed_tables_is_repeated_on_a_new_connection() {
    let Some(mut session) = session() else { return };
    let (how, text) = effect(&mut session, Scope::Transaction, async |client| {
        client.batch_execute("CREATE TABLE public.orders (id text)").await?;
        let all = client.prepare("SELECT * FROM public.orders").await?;
        client.batch_execute("ALTER TABLE public.orders ADD COLUMN price integer").await?;
        client.query(&all, &[]).await.map(drop)
    });
    assert!(text.contains("cached plan must not change result type"), "{text}");
    assert_eq!(how, Retry::NewConnection, "{text}");
}

/// A commit that fails by a conflict was not carried out, and the call is repeated. After any other
/// error it may have been carried out.
#[test]
fn a_commit_is_repeated_after_a_conflict_alone() {
    let Some(mut session) = session() else { return };
    // The commit fails with the code that was inserted.
    let tables = "CREATE TABLE public.codes (code text);
        CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'raised' USING ERRCODE = NEW.code; END $$;
        CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON public.codes DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION public.fail()";
    let execute =
        async |client: &Client, sql: &str| client.batch_execute(sql).await.map_err(store_error);
    session.run(Scope::Transaction, async |its, _, _| execute(its.client, tables).await).unwrap();
    let mut commit = |code: &str| -> (u32, Result<()>) {
        let (attempts, insert) =
            (Cell::new(0), format!("INSERT INTO public.codes VALUES ('{code}')"));
        let answer = session.run(Scope::Transaction, async |its, _, _| {
            attempts.set(attempts.get() + 1);
            if attempts.get() == 1 { execute(its.client, &insert).await } else { Ok(()) }
        });
        (attempts.get(), answer)
    };
    for code in ["40001", "40P01"] {
        let (attempts, answer) = commit(code);
        assert!(attempts == 2 && answer.is_ok(), "{code}: {attempts} attempts, {answer:?}");
    }
    for code in ["57P01", "08006", "25006"] {
        let (attempts, answer) = commit(code);
        let error = answer.expect_err("its result is not known");
        assert!(attempts == 1 && error.source().is_some(), "{code}: {attempts}, {error}");
    }
}
