//! Runs asynchronous requests on one thread, and lets synchronous callers wait for them.

use std::{
    io,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use tokio::{runtime::Handle, sync::oneshot, task::AbortHandle};

use crate::interruption::Interruption;

/// The interval in which a waiting caller checks for an interruption.
const PATIENCE: Duration = Duration::from_millis(100);

/// A thread that runs requests.
#[derive(Debug)]
pub(super) struct Runtime {
    handle: Handle,
    interruption: Interruption,
    /// Dropping it ends the thread.
    _stop: oneshot::Sender<()>,
}

/// A running request. Dropping it cancels the request.
#[derive(Debug)]
pub(super) struct Begun<T> {
    result: Receiver<T>,
    interruption: Interruption,
    task: AbortHandle,
}

impl Runtime {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot start a thread.
    pub(super) fn start(interruption: Interruption) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let drive = move || _ = runtime.block_on(stopped);
        thread::Builder::new().name("object store".to_owned()).spawn(drive)?;
        Ok(Self { handle, interruption, _stop: stop })
    }

    /// Starts a request without waiting for it.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Begun<T> {
        let (sender, result) = sync_channel(1);
        let task = self.handle.spawn(async move {
            // The caller may have dropped the request.
            _ = sender.send(future.await);
        });
        Begun { result, interruption: self.interruption, task: task.abort_handle() }
    }

    /// Runs a request and waits for the result.
    ///
    /// # Errors
    ///
    /// Returns an error if the program is interrupted.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        self.begin(future).wait()
    }

    /// Runs a request to its end, even if the program is interrupted: a clean-up.
    pub(super) fn finish<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.begin(future).result.recv().ok()
    }
}

impl<T> Begun<T> {
    /// Waits for the result.
    ///
    /// # Errors
    ///
    /// Returns an error if the program is interrupted.
    pub(super) fn wait(self) -> io::Result<T> {
        loop {
            match self.result.recv_timeout(PATIENCE) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the thread of the object store is gone"));
                }
                Err(RecvTimeoutError::Timeout) if self.interruption.is_requested() => {
                    return Err(io::Error::other("interrupted"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl<T> Drop for Begun<T> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
