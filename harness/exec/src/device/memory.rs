//! Memory of the device, and the part of it that the host sees.
//!
//! What host and device share lies in a file, which the host has mapped where the device has it. The file is what counts between launches: a
//! launch begins with a copy of it and ends with one back.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

use gpurf_oracle::Memory;

use crate::CudaError;

/// Alignment of allocations, as of CUDA's.
const ALIGNMENT: u32 = 256;
/// What is shared is mapped by pages: of 4 KiB, or larger ones on some machines.
const PAGE: u32 = 64 << 10;

/// An allocation.
struct Allocation {
    address: u32,
    size: u32,
    shared: bool,
}

/// All of it.
#[derive(Debug)]
pub struct DeviceMemory {
    /// Each buffer is an allocation.
    all: Memory,
    /// Addresses of the allocations that the host sees.
    shared: BTreeSet<u32>,
    /// Where the search for a free address begins: what was freed is not taken again at once, so that its use is noticed.
    next: u32,
    file: File,
}

impl DeviceMemory {
    /// Empty. `file` has what is shared, each byte at its address.
    pub fn new(file: File) -> Self {
        Self { all: Memory::default(), shared: BTreeSet::new(), next: 0, file }
    }

    /// The memory that launches see.
    pub fn all(&self) -> &Memory {
        &self.all
    }

    /// The same for a launch.
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

    /// The same with a name, by which others find it.
    pub fn allocate_named(&mut self, name: &str, size: u64) -> Result<u64, CudaError> {
        let address = self.room(size, ALIGNMENT)?;
        self.add(name, size, address, false)
    }

    /// New memory that the host sees.
    pub fn allocate_shared(&mut self, name: &str, size: u64) -> Result<u64, CudaError> {
        let address = self.room(size, PAGE)?;
        self.allocate_shared_at(name, size, address)
    }

    /// The same at an address that is free.
    pub fn allocate_shared_at(&mut self, name: &str, size: u64, address: u32) -> Result<u64, CudaError> {
        let address = self.add(name, size, address, true)?;
        // The file may have what was there before.
        self.write_file(address as u32, &vec![0; size as usize])?;
        Ok(address)
    }

    /// Frees what begins at an address; gives the bytes that the host has mapped.
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

    /// The allocation in which bytes lie.
    fn find(&self, address: u64, size: u64) -> Result<Allocation, CudaError> {
        let at = u32::try_from(address).map_err(|_| CudaError::InvalidValue)?;
        let (buffer, _) = self.all.within(at, size).ok_or(CudaError::InvalidValue)?;
        let (address, size) = (buffer.address(), buffer.size());
        Ok(Allocation { address, size, shared: self.shared.contains(&address) })
    }

    /// Whether bytes lie in one allocation.
    pub fn check(&self, address: u64, size: u64) -> Result<(), CudaError> {
        self.find(address, size).map(|_| ())
    }

    /// Puts bytes into an allocation.
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

    /// What a pointer is: 1 of the host, 2 of the device, 3 shared; with begin and size of its allocation.
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

    /// A launch begins: it sees what the host has written.
    pub fn sync_from_host(&mut self) -> Result<(), CudaError> {
        for (address, size) in self.shared() {
            let bytes = self.read_file(address, size)?;
            self.all.write_at(address, &bytes).ok_or(CudaError::InvalidValue)?;
        }
        Ok(())
    }

    /// A launch has ended: the host sees what it has written.
    pub fn sync_to_host(&mut self) -> Result<(), CudaError> {
        for (address, size) in self.shared() {
            let bytes = self.all.bytes_at(address, size).ok_or(CudaError::InvalidValue)?;
            self.write_file(address, &bytes)?;
        }
        Ok(())
    }
}
