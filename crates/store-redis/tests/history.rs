//! Histories of processes on one server, which are stopped, killed and cut off.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use wheelhouse_store_conformance::history::{Log, Trial, play, trial};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::{Network, Proxy, Server};

const ADDRESS: &str = "WHEELHOUSE_TEST_ADDRESS";
const NAME: &str = "WHEELHOUSE_TEST_NAME";
const LOG: &str = "WHEELHOUSE_TEST_LOG";

fn variable(name: &str) -> String {
    std::env::var(name).expect("run by its parent")
}

fn connect(address: SocketAddr) -> RedisStore {
    let store = RedisStore::builder(&format!("redis://{address}/"), "history");
    store.timeout(Duration::from_secs(2)).connect().unwrap()
}

#[test]
#[ignore = "a child"]
fn plays() {
    let mut log = Log::create(&PathBuf::from(variable(LOG)));
    let mut store = connect(variable(ADDRESS).parse().unwrap());
    play(&mut store, &mut log, &variable(NAME), Duration::from_secs(60));
}

#[test]
fn processes_on_one_server_keep_the_promises() {
    let Some(server) = Server::redis(&[]) else { return };
    let proxy = Proxy::to(server.address());
    let folder = tempfile::tempdir().unwrap();
    let store = Box::new(connect(server.address()));
    let command = |name: &str, log: &Path| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "plays", "--ignored", "--nocapture"]);
        command.env(ADDRESS, proxy.address().to_string()).env(NAME, name).env(LOG, log);
        command.stdout(Stdio::null());
        command
    };
    // Every connection through the proxy is cut; every other time, after an answer was lost.
    let cut = |n: u32| {
        if n % 2 == 0 {
            proxy.set(Network::LosesAnswers);
            std::thread::sleep(Duration::from_millis(20));
        }
        proxy.set(Network::Cut);
        proxy.set(Network::Sound);
    };
    let settings = Trial { processes: 3, time: Duration::from_secs(6), repeats: true };
    trial(settings, folder.path(), command, cut, store);
}
