//! A network that fails on demand, between a client and a server.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How the network behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// As it should.
    Sound,
    /// What goes either way arrives so much later.
    Slow(Duration),
    /// What goes either way is lost; nobody is told, as when a cable is pulled.
    Silent,
    /// Requests arrive. The answer is lost, and its connection cut.
    LosesAnswers,
    /// Connections are cut, new ones at once.
    Cut,
}

/// Forwards the connections that it is sent. Ends with its process.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    /// Where new connections lead.
    server: Arc<Mutex<SocketAddr>>,
    network: Arc<Mutex<Network>>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    /// A sound network between a free port of 127.0.0.1 and the server.
    ///
    /// # Panics
    ///
    /// If no port can be opened.
    #[must_use]
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of 127.0.0.1");
        let address = listener.local_addr().expect("an address");
        let network = Arc::new(Mutex::new(Network::Sound));
        let connections = Arc::new(Mutex::new(Vec::new()));
        let server = Arc::new(Mutex::new(server));
        let proxy = Self { address, server, network, connections };
        let (network, connections) = (proxy.network.clone(), proxy.connections.clone());
        let server = proxy.server.clone();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let address = *lock(&server);
                let Ok(server) = TcpStream::connect(address) else { continue };
                forward(&client, &server, &network, false);
                forward(&server, &client, &network, true);
                lock(&connections).extend([client, server]);
                if *lock(&network) == Network::Cut {
                    cut(&connections);
                }
            }
        });
        proxy
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on new connections lead to this server, and open ones stay: as when a name is given
    /// to another machine.
    pub fn lead_to(&self, server: SocketAddr) {
        *lock(&self.server) = server;
    }

    /// From now on the network behaves like this.
    pub fn set(&self, network: Network) {
        *lock(&self.network) = network;
        if network == Network::Cut {
            cut(&self.connections);
        }
    }
}

/// Forwards what comes from one end, in a thread of its own, until either end closes.
fn forward(from: &TcpStream, to: &TcpStream, network: &Arc<Mutex<Network>>, answers: bool) {
    let mut from = from.try_clone().expect("a copy of a socket");
    let mut to = to.try_clone().expect("a copy of a socket");
    let network = network.clone();
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let bytes = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let network = *lock(&network);
            match network {
                Network::Silent => continue,
                Network::Cut => break,
                Network::LosesAnswers if answers => break,
                Network::Slow(delay) => thread::sleep(delay),
                Network::Sound | Network::LosesAnswers => {}
            }
            if to.write_all(&buffer[..bytes]).is_err() {
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    });
}

fn cut(connections: &Mutex<Vec<TcpStream>>) {
    for connection in lock(connections).drain(..) {
        let _ = connection.shutdown(Shutdown::Both);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
