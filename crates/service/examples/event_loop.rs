//! A program with its own event loop: a UDP server that echoes what it receives, and says good-bye
//! to peers that were silent for a while. One thread does everything, and polls the scheduler
//! between datagrams, so no peer can keep it from its timers.
//!
//! The loop sleeps in the system call until the scheduler's next wake-up. The scheduler wakes it
//! when another thread has scheduled something that is due earlier. The timeout of a socket is
//! coarse: a system may round it up to a tick of some milliseconds. A program that needs more
//! precise timers sleeps in `epoll_pwait2`, `kqueue` or the like.
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
            let received = if left == Some(Duration::ZERO) {
                // The socket refuses a timeout of zero, and the shortest is a tick of the system.
                self.socket.set_nonblocking(true)?;
                let received = self.socket.recv_from(&mut bytes);
                self.socket.set_nonblocking(false)?;
                received
            } else {
                self.socket.set_read_timeout(left)?;
                self.socket.recv_from(&mut bytes)
            };
            match received {
                Ok((0, _)) => {}
                Ok((length, peer)) => {
                    self.socket.send_to(&bytes[..length], peer)?;
                    self.heard(peer)?;
                }
                Err(error) => match error.kind() {
                    // The time is over, or a signal came.
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    // On Windows: a peer that was sent something is gone.
                    ErrorKind::ConnectionReset => {}
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
