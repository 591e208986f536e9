//! A program with its own event loop: a UDP server on `mio` that echoes what it receives, and says
//! good-bye to peers that were silent for a while. One thread does everything, and polls the
//! scheduler between datagrams.
//!
//! The loop sleeps in the system call until the scheduler's next wake-up. The scheduler wakes it
//! through `mio::Waker` when another thread has scheduled something that is due earlier. No peer
//! can keep the loop from its timers, whether it never stops sending or does not read.
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
use wheelhouse_service::{ChangeError, Handle, Moment, Scheduler};

const SOCKET: Token = Token(0);
const WAKE: Token = Token(1);
const SILENCE: Duration = Duration::from_millis(20);
/// The most datagrams that are echoed before the timers are polled again.
const PORTION: usize = 64;

/// A message from the timers to the loop.
pub(crate) enum Due {
    /// A peer was silent for too long.
    Silent(SocketAddr),
    /// The server ends.
    End,
}

pub(crate) struct Server {
    socket: UdpSocket,
    poll: Poll,
    scheduler: Scheduler,
    timers: Handle,
    sender: Sender<Due>,
    due: Receiver<Due>,
}

impl Server {
    pub(crate) fn bind() -> Result<Self, Box<dyn Error>> {
        let poll = Poll::new()?;
        let mut socket = UdpSocket::bind("127.0.0.1:0".parse()?)?;
        poll.registry().register(&mut socket, SOCKET, Interest::READABLE)?;
        let mut scheduler = Scheduler::builder().build()?;
        let waker = mio::Waker::new(poll.registry(), WAKE)?;
        // This fails only if the operating system has no room for one more event, and then the
        // loop is awake already.
        scheduler.set_waker(Arc::new(move || waker.wake().unwrap_or_default()));
        let (timers, (sender, due)) = (scheduler.handle(), unbounded());
        Ok(Self { socket, poll, scheduler, timers, sender, due })
    }

    pub(crate) fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Ends the server when it is called, from any thread.
    pub(crate) fn ender(&self) -> impl FnOnce() -> bool + Send + use<> {
        let (timers, end) = (self.timers.clone(), self.sender.clone());
        // If the server has no timer, it sleeps without a limit: this wakes it.
        move || timers.after(Duration::ZERO).send(&end, Due::End).is_ok()
    }

    /// Serves until an [ender](Self::ender) is called.
    pub(crate) fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let mut events = Events::with_capacity(64);
        // `mio` reports a socket once, and again only after it was read until it was empty.
        let mut may_have_more = false;
        loop {
            self.scheduler.poll(self.timers.now());
            while let Ok(due) = self.due.try_recv() {
                match due {
                    Due::Silent(peer) => self.send(b"good-bye", peer)?,
                    Due::End => return Ok(()),
                }
            }
            let until = |wakeup: Moment| wakeup.saturating_since(self.timers.now());
            let timeout = if may_have_more {
                Some(Duration::ZERO)
            } else {
                self.scheduler.next_wakeup().map(until)
            };
            self.wait(&mut events, timeout)?;
            if may_have_more || events.iter().any(|event| event.token() == SOCKET) {
                may_have_more = self.echo_some()?;
            }
        }
    }

    /// Sleeps until there is something to do. A signal ends the sleep, but not the server.
    fn wait(&mut self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        match self.poll.poll(events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                events.clear();
                Ok(())
            }
            other => other,
        }
    }

    /// Echoes one portion of the datagrams that have arrived. Returns `true` if there may be more.
    fn echo_some(&mut self) -> Result<bool, Box<dyn Error>> {
        let mut bytes = [0; 1500];
        for _ in 0..PORTION {
            match self.socket.recv_from(&mut bytes) {
                Ok((length, peer)) => {
                    self.send(&bytes[..length], peer)?;
                    self.heard(peer)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    /// Sends a datagram, or drops it if the socket has no room: the loop waits for no peer.
    pub(crate) fn send(&self, bytes: &[u8], peer: SocketAddr) -> io::Result<()> {
        match self.socket.send_to(bytes, peer) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            sent => sent.map(drop),
        }
    }

    /// Postpones the good-bye to a peer, or schedules it.
    fn heard(&self, peer: SocketAddr) -> Result<(), Box<dyn Error>> {
        let key = peer.to_string();
        if self.timers.refresh(&key, SILENCE) == Err(ChangeError::UnknownKey) {
            self.timers.after(SILENCE).key(key).send(&self.sender, Due::Silent(peer))?;
        }
        Ok(())
    }
}

/// A client that sends two words, then nothing, and receives a good-bye. Returns what it received.
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

/// Runs the server until a client has had its conversation. Returns what the client received.
pub(crate) fn conversation(mut server: Server) -> Result<Vec<String>, Box<dyn Error>> {
    let (address, end) = (server.address()?, server.ender());
    let client = thread::spawn(move || (talk(address), end()));
    server.run()?;
    let (heard, _) = client.join().map_err(|_| "the client does not panic")?;
    Ok(heard?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    println!("the client heard {:?}", conversation(Server::bind()?)?);
    Ok(())
}
