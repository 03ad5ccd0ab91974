//! Starts an application and serves its processes, one after the other.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::process::test_kill_process;

use crate::calls::{self, Request};
use crate::{CudaError, Device, Library, Log, Recorder, Runner, Setup};

/// Interval at which the server checks whether the application has ended.
const LOOK: Duration = Duration::from_millis(5);
/// Time that a rejected process has for its request.
const REJECTION: Duration = Duration::from_secs(1);

/// Time that an application has to end after the signal to do so; then it is killed.
const GRACE: Duration = Duration::from_secs(3);

/// The signal that tells a process to end.
const SIGTERM: i32 = 15;

unsafe extern "C" {
    /// Sends a signal to a process: a function of the C library, with which the standard library is linked.
    safe fn kill(process: i32, signal: i32) -> i32;
}

/// Bytes of the file of shared memory: an offset in it is an address of the device. The file is sparse.
const SHARED: u64 = 1 << 32;

/// Why an application could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The error.
        source: io::Error,
    },
    /// The operating system refuses something.
    #[error("cannot make a socket and a file of memory in a temporary folder: {0}")]
    System(#[from] io::Error),
}

/// How an application ended.
#[derive(Debug)]
pub struct Served {
    /// Its exit status.
    pub status: ExitStatus,
    /// Processes that used the device.
    pub processes: u64,
    /// Whether it was signalled to end because the user wants to stop.
    pub stopped: bool,
}

/// A running application.
struct Application<'a> {
    child: Child,
    /// Set when the user wants to stop.
    stop: &'a AtomicBool,
    /// When it was signalled to end.
    told: Option<Instant>,
}

impl Application<'_> {
    /// Its exit status; `None` while it runs. If the user wants to stop, it is signalled to end, and killed after [`GRACE`].
    fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        if let Some(status) = self.child.try_wait()? {
            return Ok(Some(status));
        }
        // It has not been waited for, so no other process has its number.
        match self.told {
            None if self.stop.load(Ordering::Relaxed) => {
                kill(self.child.id().cast_signed(), SIGTERM);
                self.told = Some(Instant::now());
            }
            Some(told) if told.elapsed() >= GRACE => self.child.kill()?,
            None | Some(_) => {}
        }
        Ok(None)
    }
}

/// The connection of a process. If the user wants to stop, it ends with the application: a child process of the application may not react.
struct Connection<'a, 'b> {
    stream: UnixStream,
    application: &'a mut Application<'b>,
}

impl Connection<'_, '_> {
    /// Reads or writes; 0 bytes when the application has ended, although a process that it has left behind may keep the connection.
    fn transfer(&mut self, mut work: impl FnMut(&mut UnixStream) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            if self.application.stop.load(Ordering::Relaxed) && self.application.ended()?.is_some() {
                return Ok(0);
            }
            match work(&mut self.stream) {
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    if self.application.ended()?.is_some() {
                        return Ok(0);
                    }
                }
                result => return result,
            }
        }
    }
}

impl Read for Connection<'_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.transfer(|stream| stream.read(buffer))
    }
}

impl Write for Connection<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.transfer(|stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Drop for Connection<'_, '_> {
    /// The thread that accepts connections has a copy of the stream, so that it would stay open.
    fn drop(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Starts an application and runs the launches of its processes. Each process gets a new device, one process after the other: while one uses it,
/// another one gets the error that the device is busy. A process waits for the end of the requests of a process that has ended. When `stop` is set, the
/// application is signalled to end.
///
/// # Errors
/// When the application cannot be started.
pub fn serve(
    command: &mut Command,
    library: &Library,
    setup: &Setup,
    runner: &mut dyn Runner,
    mut recorder: Option<&mut Recorder>,
    log: &mut Log,
    stop: &AtomicBool,
) -> Result<Served, ServeError> {
    let folder = tempfile::Builder::new().prefix("gpurf-exec-").tempdir()?;
    let [socket, memory] = ["socket", "memory"].map(|name| folder.path().join(name));
    let listener = UnixListener::bind(&socket)?;
    OpenOptions::new().write(true).create_new(true).open(&memory)?.set_len(SHARED)?;
    command.env("GPURF_EXEC_SOCKET", &socket).env("GPURF_EXEC_MEMORY", &memory);
    command.env("LD_LIBRARY_PATH", search_path(library));
    let program = || PathBuf::from(command.get_program());
    let named = program();
    let child = command.spawn().map_err(|source| ServeError::Start { program: named, source })?;
    let mut application = Application { child, stop, told: None };
    let streams = accept(listener);
    let mut processes = 0;
    while let Some(stream) = next(&streams, &mut application)? {
        processes += 1;
        let file = OpenOptions::new().read(true).write(true).open(&memory)?;
        let device = Device::new(setup, runner, recorder.as_deref_mut(), log, file);
        stream.set_read_timeout(Some(LOOK))?;
        stream.set_write_timeout(Some(LOOK))?;
        // A process that ends in the middle of a request is no error here.
        let _ = converse(Connection { stream, application: &mut application }, device);
    }
    Ok(Served { status: application.child.wait()?, processes, stopped: application.told.is_some() })
}

/// The search path for libraries: this library first, then the user's path.
fn search_path(library: &Library) -> std::ffi::OsString {
    let mut path = library.folder.clone().into_os_string();
    if let Some(old) = std::env::var_os("LD_LIBRARY_PATH").filter(|old| !old.is_empty()) {
        path.push(":");
        path.push(old);
    }
    path
}

/// Accepts connections: passes one on, and rejects others while its process has it. When the process has ended, the next connection is passed on at once,
/// although the device may still work for the ended one.
fn accept(listener: UnixListener) -> Receiver<UnixStream> {
    let (send, receive) = channel();
    // The thread is not joined: it ends with the program.
    std::thread::spawn(move || {
        let mut current: Option<UnixStream> = None;
        for stream in listener.incoming().map_while(Result::ok) {
            if let Some(current) = &current {
                if !has_hung_up(current) && !has_lost_its_process(current) {
                    // In a thread of its own: a process that sends nothing delays no other.
                    std::thread::spawn(move || reject(stream));
                    continue;
                }
                // A child of the ended process may keep the connection open.
                let _ = current.shutdown(Shutdown::Both);
            }
            current = stream.try_clone().ok();
            if send.send(stream).is_err() {
                break;
            }
        }
    });
    receive
}

/// Whether one of the two sides has closed a connection.
fn has_hung_up(stream: &UnixStream) -> bool {
    // A hang-up is reported without being requested.
    let mut files = [PollFd::new(stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut files, Some(&now)).is_ok() && files[0].revents().contains(PollFlags::HUP)
}

/// Whether the process that has made a connection has ended. A child that it has forked may still have the connection: it has not run yet, or it has
/// no handlers of `fork`.
fn has_lost_its_process(stream: &UnixStream) -> bool {
    socket_peercred(stream).is_ok_and(|peer| test_kill_process(peer.pid) == Err(rustix::io::Errno::SRCH))
}

/// Answers the first request of a connection with the error that the device is busy.
fn reject(mut stream: UnixStream) {
    let _ = stream.set_read_timeout(Some(REJECTION));
    let _ = Request::read(&mut stream);
    let _ = calls::write(&mut stream, Err(CudaError::Unavailable));
}

/// The next connection; `None` when the application has ended.
fn next(streams: &Receiver<UnixStream>, application: &mut Application<'_>) -> io::Result<Option<UnixStream>> {
    loop {
        match streams.recv_timeout(LOOK) {
            Ok(stream) => return Ok(Some(stream)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if application.ended()?.is_some() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn converse(mut connection: Connection<'_, '_>, mut device: Device<'_>) -> io::Result<()> {
    while let Some(request) = Request::read(&mut connection)? {
        calls::write(&mut connection, device.answer(&request))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next connection is passed on when the process of the one before has ended, whatever the server does, and rejected until then. One that sends
    /// nothing delays no other.
    #[test]
    fn a_connection_is_rejected_while_the_process_before_it_lives() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let passed = accept(UnixListener::bind(&socket).unwrap());
        let time = Duration::from_secs(30);
        let connect = || {
            let stream = UnixStream::connect(&socket).unwrap();
            stream.set_read_timeout(Some(time)).unwrap();
            stream
        };
        let request: Vec<u8> = [1u32, 0, 0, 0].iter().flat_map(|word| word.to_ne_bytes()).collect();
        let first = connect();
        let _served = passed.recv_timeout(time).unwrap();
        let _silent = connect();
        let mut rejected = connect();
        // The answer may have come before the request.
        let _ = rejected.write_all(&request);
        let mut answer = [0; 16];
        rejected.read_exact(&mut answer).unwrap();
        assert_eq!(answer[..4], CudaError::Unavailable.code().to_ne_bytes());
        assert!(passed.try_recv().is_err());
        drop(first);
        let _second = connect();
        passed.recv_timeout(time).unwrap();
    }
}
