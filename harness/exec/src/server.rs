//! Starts an application and serves its processes, one after the other.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::calls::{self, Request};
use crate::{CudaError, Device, Library, Log, Recorder, Runner, Setup};

/// Interval at which the server checks whether the application has ended.
const LOOK: Duration = Duration::from_millis(5);

/// Bytes of the file of shared memory: an address in it is an address of the device. It has no bytes where nothing was written.
const SHARED: u64 = 1 << 32;

/// Why an application could not be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It cannot be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// Its name.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The operating system refuses something.
    #[error("cannot make a socket and a file of memory in a temporary folder: {0}")]
    System(#[from] io::Error),
}

/// How an application ended.
#[derive(Debug)]
pub struct Served {
    /// Its status.
    pub status: ExitStatus,
    /// Processes that used the device.
    pub processes: u64,
}

/// Starts an application and runs what its processes launch. Each process finds a device of its own, one after the other: while one has it, another one is
/// told that the device is busy.
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
) -> Result<Served, ServeError> {
    let folder = tempfile::Builder::new().prefix("gpurf-exec-").tempdir()?;
    let [socket, memory] = ["socket", "memory"].map(|name| folder.path().join(name));
    let listener = UnixListener::bind(&socket)?;
    OpenOptions::new().write(true).create_new(true).open(&memory)?.set_len(SHARED)?;
    command.env("GPURF_EXEC_SOCKET", &socket).env("GPURF_EXEC_MEMORY", &memory);
    command.env("LD_LIBRARY_PATH", search_path(library));
    let program = || PathBuf::from(command.get_program());
    let named = program();
    let mut child = command.spawn().map_err(|source| ServeError::Start { program: named, source })?;
    let busy = Arc::new(AtomicBool::new(false));
    let streams = accept(listener, Arc::clone(&busy));
    let mut processes = 0;
    while let Some(stream) = next(&streams, &mut child)? {
        processes += 1;
        let file = OpenOptions::new().read(true).write(true).open(&memory)?;
        let device = Device::new(setup, runner, recorder.as_deref_mut(), log, file);
        // A process that ends in the middle of a request is no matter of ours.
        let _ = converse(stream, device);
        busy.store(false, Ordering::SeqCst);
    }
    Ok(Served { status: child.wait()?, processes })
}

/// The library first, then what the user has.
fn search_path(library: &Library) -> std::ffi::OsString {
    let mut path = library.folder.clone().into_os_string();
    if let Some(old) = std::env::var_os("LD_LIBRARY_PATH").filter(|old| !old.is_empty()) {
        path.push(":");
        path.push(old);
    }
    path
}

/// Accepts connections: passes one on, and turns others away while it lasts.
fn accept(listener: UnixListener, busy: Arc<AtomicBool>) -> Receiver<UnixStream> {
    let (send, receive) = channel();
    // The thread ends with the program: nothing is left to be done then.
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            if busy.swap(true, Ordering::SeqCst) {
                let _ = Request::read(&mut stream);
                let _ = calls::write(&mut stream, Err(CudaError::Unavailable));
            } else if send.send(stream).is_err() {
                break;
            }
        }
    });
    receive
}

/// The next connection; nothing when the application has ended.
fn next(streams: &Receiver<UnixStream>, child: &mut Child) -> io::Result<Option<UnixStream>> {
    loop {
        match streams.recv_timeout(LOOK) {
            Ok(stream) => return Ok(Some(stream)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_some() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn converse(mut stream: UnixStream, mut device: Device<'_>) -> io::Result<()> {
    while let Some(request) = Request::read(&mut stream)? {
        calls::write(&mut stream, device.answer(&request))?;
    }
    Ok(())
}
