//! A network between a client and a server that fails on demand.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How the network behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Network {
    /// Everything arrives without delay.
    Sound,
    /// Data arrive after this delay, in both directions.
    Slow(Duration),
    /// Data are lost in both directions, without an error, as when a cable is pulled.
    Silent,
    /// Requests arrive. Their answers are lost, and the connection is cut.
    LosesAnswers,
    /// All connections are cut, and new ones at once.
    Cut,
}

/// Forwards connections to a server, until the program ends.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The server to which new connections are forwarded.
    server: Mutex<SocketAddr>,
    network: Mutex<Network>,
    connections: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// A sound network between the server and a free port of 127.0.0.1.
    #[must_use]
    pub fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of 127.0.0.1");
        let address = listener.local_addr().expect("an address");
        let (network, connections) = (Mutex::new(Network::Sound), Mutex::default());
        let shared = Arc::new(Shared { server: Mutex::new(server), network, connections });
        let its = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let address = *lock(&its.server);
                let Ok(server) = TcpStream::connect(address) else { continue };
                forward(&client, &server, &its, false);
                forward(&server, &client, &its, true);
                lock(&its.connections).extend([client, server]);
                if *lock(&its.network) == Network::Cut {
                    its.cut();
                }
            }
        });
        Self { address, shared }
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Forwards new connections to this server from now on. Open ones stay, as when a host name
    /// moves to another machine.
    pub fn redirect_to(&self, server: SocketAddr) {
        *lock(&self.shared.server) = server;
    }

    /// Changes the behaviour of the network.
    pub fn set(&self, network: Network) {
        *lock(&self.shared.network) = network;
        if network == Network::Cut {
            self.shared.cut();
        }
    }
}

impl Shared {
    fn cut(&self) {
        for connection in lock(&self.connections).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

/// Forwards data from one end, in a new thread, until either end closes.
fn forward(from: &TcpStream, to: &TcpStream, shared: &Arc<Shared>, answers: bool) {
    let mut from = from.try_clone().expect("a copy of a socket");
    let mut to = to.try_clone().expect("a copy of a socket");
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let bytes = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let network = *lock(&shared.network);
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
