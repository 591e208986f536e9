//! A program with its own event loop: a UDP server that echoes what it receives, and says good-bye
//! to peers that were silent for a while. One thread does everything, and polls the scheduler
//! between datagrams, so no peer can keep it from its timers.
//!
//! The loop sleeps in the system call until the scheduler's next wake-up. The scheduler wakes it
//! when another thread has scheduled something that is due earlier.
//!
//! ```sh
//! cargo run -p wheelhouse-service --example event_loop
//! ```

use std::error::Error;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use wheelhouse_service::crossbeam_channel::{Receiver, Sender, unbounded};
use wheelhouse_service::{ChangeError, Handle, Scheduler};

const SILENCE: Duration = Duration::from_millis(20);

/// A message from the timers to the loop.
pub(crate) enum Due {
    /// A peer was silent for too long.
    Silent(SocketAddr),
    /// The server ends.
    End,
}

pub(crate) struct Server {
    pub(crate) socket: UdpSocket,
    scheduler: Scheduler,
    timers: Handle,
    sender: Sender<Due>,
    due: Receiver<Due>,
}

impl Server {
    pub(crate) fn bind() -> Result<Self, Box<dyn Error>> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        let (wakes, address) = (socket.try_clone()?, socket.local_addr()?);
        let mut scheduler = Scheduler::builder().build()?;
        // An empty datagram to itself ends the sleep. It is lost only if the socket is full, and
        // then the loop is awake.
        scheduler.set_waker(Arc::new(move || _ = wakes.send_to(&[], address)));
        let (timers, (sender, due)) = (scheduler.handle(), unbounded());
        Ok(Self { socket, scheduler, timers, sender, due })
    }

    /// Ends the server when it is called, from any thread.
    pub(crate) fn ender(&self) -> impl FnOnce() -> bool + Send + use<> {
        let (timers, end) = (self.timers.clone(), self.sender.clone());
        // If the server has no timer, it sleeps without a limit: this wakes it.
        move || timers.after(Duration::ZERO).send(&end, Due::End).is_ok()
    }

    /// Serves until an [ender](Self::ender) is called.
    pub(crate) fn run(&mut self) -> Result<(), Box<dyn Error>> {
        let mut bytes = [0; 1500];
        loop {
            self.scheduler.poll(self.timers.now());
            while let Ok(due) = self.due.try_recv() {
                match due {
                    Due::Silent(peer) => drop(self.socket.send_to(b"good-bye", peer)?),
                    Due::End => return Ok(()),
                }
            }
            let wakeup = self.scheduler.next_wakeup();
            let left = wakeup.map(|wakeup| wakeup.saturating_since(self.timers.now()));
            // The socket refuses a timeout of zero.
            self.socket.set_read_timeout(left.map(|left| left.max(Duration::from_micros(1))))?;
            match self.socket.recv_from(&mut bytes) {
                Ok((0, _)) => {}
                Ok((length, peer)) => {
                    self.socket.send_to(&bytes[..length], peer)?;
                    self.heard(peer)?;
                }
                // The time is over, or a signal came.
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(error.into()),
                },
            }
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
    let socket = UdpSocket::bind("127.0.0.1:0")?;
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
    let (address, end) = (server.socket.local_addr()?, server.ender());
    let client = thread::spawn(move || (talk(address), end()));
    server.run()?;
    let (heard, _) = client.join().map_err(|_| "the client does not panic")?;
    Ok(heard?)
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    println!("the client heard {:?}", conversation(Server::bind()?)?);
    Ok(())
}
