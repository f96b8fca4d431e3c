//! The one asynchronous place: a thread that does what is waited for.

use std::{
    io,
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use tokio::{runtime::Handle, sync::oneshot, task::AbortHandle};

use crate::interruption::Interruption;

/// How long it may take until somebody who waits sees that the run was asked to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// A thread on which requests go on, whoever waits for them.
#[derive(Debug)]
pub(super) struct Runtime {
    handle: Handle,
    interruption: Interruption,
    /// Dropped, the thread ends.
    _stop: oneshot::Sender<()>,
}

/// What has begun and will be there; dropped, it is given up.
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
    /// The system's own.
    pub(super) fn start(interruption: Interruption) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel();
        let drive = move || _ = runtime.block_on(stopped);
        thread::Builder::new().name("object store".to_owned()).spawn(drive)?;
        Ok(Self { handle, interruption, _stop: stop })
    }

    /// Begins something that goes on while nobody waits for it.
    pub(super) fn begin<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Begun<T> {
        let (sender, result) = sync_channel(1);
        let task = self.handle.spawn(async move {
            // Nobody may wait for it any more.
            _ = sender.send(future.await);
        });
        Begun { result, interruption: self.interruption, task: task.abort_handle() }
    }

    /// Does something and waits for it.
    ///
    /// # Errors
    ///
    /// If the run is asked to stop meanwhile.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        self.begin(future).wait()
    }

    /// Does something that is done whether the run is asked to stop or not: it cleans up.
    pub(super) fn finish<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.begin(future).result.recv().ok()
    }
}

impl<T> Begun<T> {
    /// Waits for it.
    ///
    /// # Errors
    ///
    /// If the run is asked to stop meanwhile.
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
