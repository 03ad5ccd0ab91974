//! Memory of the device, and the part of it that the host sees.
//!
//! Memory that host and device share is a file, which the host maps at the device's addresses. Between launches the file holds the current contents:
//! a launch copies it at its start, and copies its results back at its end.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

use gpurf_oracle::Memory;

use crate::CudaError;

/// Alignment of allocations, as in CUDA.
const ALIGNMENT: u32 = 256;
/// Alignment of shared memory, which is mapped in pages: of 4 KiB, or larger ones on some machines.
const PAGE: u32 = 64 << 10;

/// An allocation.
struct Allocation {
    address: u32,
    size: u32,
    shared: bool,
}

/// All memory of the device.
#[derive(Debug)]
pub struct DeviceMemory {
    /// Each buffer is an allocation.
    all: Memory,
    /// Addresses of the allocations that the host sees.
    shared: BTreeSet<u32>,
    /// Where the search for a free address begins: freed memory is not reused at once, so that a use of it is detected.
    next: u32,
    file: File,
}

impl DeviceMemory {
    /// Empty memory. `file` holds the shared part, each byte at its address.
    pub fn new(file: File) -> Self {
        Self { all: Memory::default(), shared: BTreeSet::new(), next: 0, file }
    }

    /// The memory that launches see.
    pub fn all(&self) -> &Memory {
        &self.all
    }

    /// The memory that launches see, for a launch to change.
    pub fn all_mut(&mut self) -> &mut Memory {
        &mut self.all
    }

    /// Bytes of all allocations.
    pub fn taken(&self) -> u64 {
        self.all.buffers().iter().map(|buffer| u64::from(buffer.size())).sum()
    }

    /// The address of a new allocation.
    fn room(&self, size: u64, alignment: u32) -> Result<u32, CudaError> {
        let room = |from| self.all.room(size, alignment, from);
        room(self.next).or_else(|| room(0)).ok_or(CudaError::OutOfMemory)
    }

    fn add(&mut self, name: &str, size: u64, address: u32, shared: bool) -> Result<u64, CudaError> {
        let size = u32::try_from(size).map_err(|_| CudaError::OutOfMemory)?;
        self.all.insert(name, size, address).map_err(|_| CudaError::OutOfMemory)?;
        if shared {
            self.shared.insert(address);
        }
        self.next = address.saturating_add(size);
        Ok(address.into())
    }

    /// New memory of the device.
    pub fn allocate(&mut self, size: u64) -> Result<u64, CudaError> {
        self.allocate_named("device", size)
    }

    /// As [`allocate`](Self::allocate), with a name by which the buffer is found.
    pub fn allocate_named(&mut self, name: &str, size: u64) -> Result<u64, CudaError> {
        let address = self.room(size, ALIGNMENT)?;
        self.add(name, size, address, false)
    }

    /// New memory that the host sees.
    pub fn allocate_shared(&mut self, name: &str, size: u64) -> Result<u64, CudaError> {
        let address = self.room(size, PAGE)?;
        self.allocate_shared_at(name, size, address)
    }

    /// As [`allocate_shared`](Self::allocate_shared), at an address that is free.
    pub fn allocate_shared_at(&mut self, name: &str, size: u64, address: u32) -> Result<u64, CudaError> {
        let address = self.add(name, size, address, true)?;
        // The file may hold the contents of an earlier allocation.
        self.write_file(address as u32, &vec![0; size as usize])?;
        Ok(address)
    }

    /// Frees the allocation that begins at an address; returns the number of bytes that the host has mapped.
    pub fn free(&mut self, address: u64) -> Result<u64, CudaError> {
        let begin = self.find(address, 0)?;
        if u64::from(begin.address) != address {
            return Err(CudaError::InvalidValue);
        }
        self.all.remove(begin.address);
        Ok(if self.shared.remove(&begin.address) { begin.size.into() } else { 0 })
    }

    /// Frees everything.
    pub fn clear(&mut self) {
        self.shared.clear();
        self.all = Memory::default();
    }

    /// The allocation that contains `size` bytes at an address.
    fn find(&self, address: u64, size: u64) -> Result<Allocation, CudaError> {
        let at = u32::try_from(address).map_err(|_| CudaError::InvalidValue)?;
        let (buffer, _) = self.all.within(at, size).ok_or(CudaError::InvalidValue)?;
        let (address, size) = (buffer.address(), buffer.size());
        Ok(Allocation { address, size, shared: self.shared.contains(&address) })
    }

    /// Checks that `size` bytes at an address lie in one allocation.
    pub fn check(&self, address: u64, size: u64) -> Result<(), CudaError> {
        self.find(address, size).map(|_| ())
    }

    /// Writes bytes into an allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), CudaError> {
        if self.find(address, bytes.len() as u64)?.shared {
            return self.write_file(address as u32, bytes);
        }
        self.all.write_at(address as u32, bytes).ok_or(CudaError::InvalidValue)
    }

    /// Bytes of an allocation.
    pub fn read(&self, address: u64, size: u64) -> Result<Vec<u8>, CudaError> {
        if self.find(address, size)?.shared {
            return self.read_file(address as u32, size as u32);
        }
        self.all.bytes_at(address as u32, size as u32).ok_or(CudaError::InvalidValue)
    }

    /// The kind of a pointer (1 for host memory, 2 for device memory, 3 for shared memory), with start and size of its allocation.
    pub fn pointer(&self, address: u64) -> [u64; 3] {
        match self.find(address, 1) {
            Ok(found) => [if found.shared { 3 } else { 2 }, found.address.into(), found.size.into()],
            Err(_) => [1, 0, 0],
        }
    }

    fn write_file(&self, address: u32, bytes: &[u8]) -> Result<(), CudaError> {
        self.file.write_all_at(bytes, address.into()).map_err(|_| CudaError::OperatingSystem)
    }

    fn read_file(&self, address: u32, size: u32) -> Result<Vec<u8>, CudaError> {
        let mut bytes = vec![0; size as usize];
        self.file.read_exact_at(&mut bytes, address.into()).map_err(|_| CudaError::OperatingSystem)?;
        Ok(bytes)
    }

    fn shared(&self) -> Vec<(u32, u32)> {
        let shared = self.all.buffers().iter().filter(|buffer| self.shared.contains(&buffer.address()));
        shared.map(|buffer| (buffer.address(), buffer.size())).collect()
    }

    /// At the start of a launch: makes visible to it what the host has written.
    pub fn sync_from_host(&mut self) -> Result<(), CudaError> {
        for (address, size) in self.shared() {
            let bytes = self.read_file(address, size)?;
            self.all.write_at(address, &bytes).ok_or(CudaError::InvalidValue)?;
        }
        Ok(())
    }

    /// At the end of a launch: makes visible to the host what it has written.
    pub fn sync_to_host(&mut self) -> Result<(), CudaError> {
        for (address, size) in self.shared() {
            let bytes = self.all.bytes_at(address, size).ok_or(CudaError::InvalidValue)?;
            self.write_file(address, &bytes)?;
        }
        Ok(())
    }
}
