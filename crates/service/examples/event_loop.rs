//! A program with an event loop of its own: a UDP server on `mio` that echoes what it gets and says
//! good-bye to peers that were silent for a while. One thread does it all; the scheduler is one
//! more thing that it looks after.
//!
//! The loop sleeps in the system call for as long as the scheduler says, and the scheduler wakes it
//! through `mio::Waker` when another thread has scheduled something that cannot wait.
//!
//! ```sh
//! cargo run -p wheelhouse-service --example event_loop
//! ```

use mio::net::UdpSocket;
use mio::{Events, Interest, Poll, Token};
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use wheelhouse_service::crossbeam_channel::{Receiver, Sender, unbounded};
use wheelhouse_service::{ChangeError, Handle, Scheduler};

const SOCKET: Token = Token(0);
const WAKE: Token = Token(1);
const SILENCE: Duration = Duration::from_millis(20);

/// What the timers tell the loop.
pub(crate) enum Due {
    /// A peer was silent for too long.
    Silent(SocketAddr),
    /// The server is to end.
    End,
}

pub(crate) struct Server {
    socket: UdpSocket,
    poll: Poll,
    scheduler: Scheduler,
    timers: Handle,
    sender: Sender<Due>,
    due: Receiver<Due>,
    pub(crate) echoed: usize,
    pub(crate) said_good_bye: usize,
}

impl Server {
    pub(crate) fn bind() -> Result<Self, Box<dyn Error>> {
        let poll = Poll::new()?;
        let mut socket = UdpSocket::bind("127.0.0.1:0".parse()?)?;
        poll.registry().register(&mut socket, SOCKET, Interest::READABLE)?;
        let mut scheduler = Scheduler::builder().build()?;
        let waker = mio::Waker::new(poll.registry(), WAKE)?;
        // Can fail only if the operating system has no room for one more event, and then the loop
        // is awake anyway.
        scheduler.set_waker(Arc::new(move || waker.wake().unwrap_or_default()));
        let (timers, (sender, due)) = (scheduler.handle(), unbounded());
        Ok(Self { socket, poll, scheduler, timers, sender, due, echoed: 0, said_good_bye: 0 })
    }

    /// Serves until it is told to end.
    pub(crate) fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let mut events = Events::with_capacity(64);
        loop {
            self.scheduler.poll(self.timers.now());
            while let Ok(due) = self.due.try_recv() {
                match due {
                    Due::Silent(peer) => {
                        self.socket.send_to(b"good-bye", peer)?;
                        self.said_good_bye += 1;
                    }
                    Due::End => return Ok(()),
                }
            }
            let timeout = self
                .scheduler
                .next_wakeup()
                .map(|wakeup| wakeup.saturating_since(self.timers.now()));
            self.wait(&mut events, timeout)?;
            if events.iter().any(|event| event.token() == SOCKET) {
                self.echo_all()?;
            }
        }
    }

    /// Sleeps until there is something to do. A signal ends the sleep too, and is no reason to end
    /// the server.
    fn wait(&mut self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            other => other,
        }
    }

    fn echo_all(&mut self) -> Result<(), Box<dyn Error>> {
        let mut bytes = [0; 1500];
        loop {
            match self.socket.recv_from(&mut bytes) {
                Ok((length, peer)) => {
                    self.socket.send_to(&bytes[..length], peer)?;
                    self.echoed += 1;
                    self.heard(peer)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Puts off the good-bye to a peer, or plans it.
    fn heard(&self, peer: SocketAddr) -> Result<(), Box<dyn Error>> {
        let key = peer.to_string();
        if self.timers.refresh(&key, SILENCE) == Err(ChangeError::UnknownKey) {
            self.timers.after(SILENCE).key(key).send(&self.sender, Due::Silent(peer))?;
        }
        Ok(())
    }
}

/// A client that says something twice, then nothing, and hears good-bye. Returns what it heard.
fn talk(server: SocketAddr) -> io::Result<Vec<String>> {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
    socket.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut heard = Vec::new();
    for word in ["hello", "world", ""] {
        if !word.is_empty() {
            socket.send_to(word.as_bytes(), server)?;
        }
        let mut bytes = [0; 1500];
        let length = socket.recv(&mut bytes)?;
        heard.push(String::from_utf8_lossy(&bytes[..length]).into_owned());
    }
    Ok(heard)
}

/// Runs a server and a client. What the client heard, and how often the server echoed and said
/// good-bye.
pub(crate) fn conversation() -> Result<(Vec<String>, usize, usize), Box<dyn Error>> {
    let mut server = Server::bind()?;
    let (address, timers, end) =
        (server.socket.local_addr()?, server.timers.clone(), server.sender.clone());
    let client = thread::spawn(move || {
        let heard = talk(address);
        // From another thread, while the server has no timer and sleeps without a limit: this wakes
        // it.
        (heard, timers.after(Duration::ZERO).send(&end, Due::End).is_ok())
    });
    server.run()?;
    let (heard, _) = client.join().map_err(|_| "the client does not panic")?;
    Ok((heard?, server.echoed, server.said_good_bye))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let (heard, echoed, said_good_bye) = conversation()?;
    println!(
        "the client heard {heard:?}; the server echoed {echoed} times and said good-bye \
         {said_good_bye} times"
    );
    Ok(())
}
