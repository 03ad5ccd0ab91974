//! Memory of the device, and the part of it that the host sees.
//!
//! Memory that host and device share is a file, which the host maps at the device's addresses. Between launches the file holds the current contents:
//! a launch copies it at its start, and copies the bytes that it has changed back at its end.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use gpurf_oracle::Memory;

use crate::CudaError;

/// Alignment of allocations, as in CUDA: that of textures (`textureAlignment`).
const ALIGNMENT: u32 = 512;
/// Alignment of shared memory, which is mapped in pages: of 4 KiB, or larger ones on some machines.
const PAGE: u32 = 64 << 10;
/// Bytes of shared memory that are compared at once after a launch.
const CHUNK: usize = 4096;
/// Two changed bytes of shared memory that are less than this apart are written together.
const GAP: usize = 4;

/// What an allocation is: it determines which call frees it, and whether the host sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Memory of the device: `cudaMalloc`.
    Device,
    /// Memory that host and device share: `cudaMallocManaged`.
    Managed,
    /// Memory of the host that the device sees: `cudaMallocHost`.
    Host,
    /// A variable of a module.
    Variable,
    /// A variable of a module that the host sees: `__managed__`.
    ManagedVariable,
    /// A buffer that the program does not know.
    Hidden,
}

impl Kind {
    /// Whether the host has mapped it.
    fn is_shared(self) -> bool {
        matches!(self, Self::Managed | Self::Host | Self::ManagedVariable)
    }
}

/// An allocation.
struct Allocation {
    address: u32,
    size: u32,
    kind: Kind,
}

/// All memory of the device.
#[derive(Debug)]
pub struct DeviceMemory {
    /// Each buffer is an allocation.
    all: Memory,
    /// The kind of each allocation, by address.
    kinds: BTreeMap<u32, Kind>,
    /// Address and contents of each shared allocation at the start of the launch.
    before: Vec<(u32, Vec<u8>)>,
    /// Where the search for a free address begins: freed memory is not reused at once, so that a use of it is detected.
    next: u32,
    file: File,
}

impl DeviceMemory {
    /// Empty memory. `file` holds the shared part, each byte at its address.
    pub fn new(file: File) -> Self {
        Self { all: Memory::default(), kinds: BTreeMap::new(), before: Vec::new(), next: 0, file }
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

    fn add(&mut self, name: &str, size: u64, address: u32, kind: Kind) -> Result<u64, CudaError> {
        let bytes = u32::try_from(size).map_err(|_| CudaError::OutOfMemory)?;
        self.all.insert(name, bytes, address).map_err(|_| CudaError::OutOfMemory)?;
        self.kinds.insert(address, kind);
        self.next = address.saturating_add(bytes);
        if kind.is_shared() {
            // The file may hold the contents of an earlier allocation.
            self.write_file(address, &vec![0; size as usize])?;
        }
        Ok(address.into())
    }

    /// New memory of the device.
    pub fn allocate(&mut self, size: u64) -> Result<u64, CudaError> {
        let address = self.room(size, ALIGNMENT)?;
        self.add("device", size, address, Kind::Device)
    }

    /// New memory that the host sees; `kind` says who frees it.
    pub fn allocate_shared(&mut self, size: u64, kind: Kind) -> Result<u64, CudaError> {
        let address = self.room(size, PAGE)?;
        self.add("shared", size, address, kind)
    }

    /// A new buffer that the program does not know, with a name by which it is found.
    pub fn allocate_hidden(&mut self, name: &str, size: u64) -> Result<u64, CudaError> {
        let address = self.room(size, ALIGNMENT)?;
        self.add(name, size, address, Kind::Hidden)
    }

    /// Memory for a variable: at its earlier address, which is free, or at the start of a page, so that it can be shared.
    pub fn allocate_variable(
        &mut self,
        name: &str,
        size: u64,
        home: Option<u32>,
        is_managed: bool,
    ) -> Result<u64, CudaError> {
        let address = home.map_or_else(|| self.room(size, PAGE), Ok)?;
        self.add(name, size, address, if is_managed { Kind::ManagedVariable } else { Kind::Variable })
    }

    /// Shares a variable with the host.
    pub fn share(&mut self, address: u32) -> Result<(), CudaError> {
        let found = self.find(address.into(), 0)?;
        if !found.kind.is_shared() {
            let bytes = self.all.bytes_at(address, found.size).ok_or(CudaError::InvalidValue)?;
            self.write_file(address, &bytes)?;
            self.kinds.insert(address, Kind::ManagedVariable);
        }
        Ok(())
    }

    /// Frees the allocation that begins at an address, if it has one of these kinds; returns the number of bytes that the host has mapped.
    pub fn free(&mut self, address: u64, kinds: &[Kind]) -> Result<u64, CudaError> {
        let found = self.find(address, 0)?;
        if u64::from(found.address) != address || !kinds.contains(&found.kind) {
            return Err(CudaError::InvalidValue);
        }
        self.all.remove(found.address);
        self.kinds.remove(&found.address);
        Ok(if found.kind.is_shared() { found.size.into() } else { 0 })
    }

    /// Frees everything.
    pub fn clear(&mut self) {
        self.kinds.clear();
        self.before.clear();
        self.all = Memory::default();
    }

    /// The allocation that contains `size` bytes at an address.
    fn find(&self, address: u64, size: u64) -> Result<Allocation, CudaError> {
        let at = u32::try_from(address).map_err(|_| CudaError::InvalidValue)?;
        let (buffer, _) = self.all.within(at, size).ok_or(CudaError::InvalidValue)?;
        let (address, size) = (buffer.address(), buffer.size());
        let kind = *self.kinds.get(&address).ok_or(CudaError::InvalidValue)?;
        Ok(Allocation { address, size, kind })
    }

    /// Checks that `size` bytes at an address lie in one allocation.
    pub fn check(&self, address: u64, size: u64) -> Result<(), CudaError> {
        self.find(address, size).map(|_| ())
    }

    /// Writes bytes into an allocation.
    pub fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), CudaError> {
        if self.find(address, bytes.len() as u64)?.kind.is_shared() {
            return self.write_file(address as u32, bytes);
        }
        self.all.write_at(address as u32, bytes).ok_or(CudaError::InvalidValue)
    }

    /// Bytes of an allocation.
    pub fn read(&self, address: u64, size: u64) -> Result<Vec<u8>, CudaError> {
        if self.find(address, size)?.kind.is_shared() {
            return self.read_file(address as u32, size as u32);
        }
        self.all.bytes_at(address as u32, size as u32).ok_or(CudaError::InvalidValue)
    }

    /// Where a pointer points (1 for the program's own memory, 2 for the device's, 3 for managed memory, 4 for the host's that the device sees), with
    /// start and size of its allocation.
    pub fn pointer(&self, address: u64) -> [u64; 3] {
        let Ok(found) = self.find(address, 1) else { return [1, 0, 0] };
        let place = match found.kind {
            Kind::Device | Kind::Variable | Kind::Hidden => 2,
            Kind::Managed | Kind::ManagedVariable => 3,
            Kind::Host => 4,
        };
        [place, found.address.into(), found.size.into()]
    }

    fn write_file(&self, address: u32, bytes: &[u8]) -> Result<(), CudaError> {
        self.file.write_all_at(bytes, address.into()).map_err(|_| CudaError::OperatingSystem)
    }

    fn read_file(&self, address: u32, size: u32) -> Result<Vec<u8>, CudaError> {
        let mut bytes = vec![0; size as usize];
        self.file.read_exact_at(&mut bytes, address.into()).map_err(|_| CudaError::OperatingSystem)?;
        Ok(bytes)
    }

    /// At the start of a launch: makes visible to it what the host has written.
    pub fn sync_from_host(&mut self) -> Result<(), CudaError> {
        let shared = self.kinds.iter().filter(|(_, kind)| kind.is_shared()).map(|(address, _)| *address);
        self.before.clear();
        for address in shared.collect::<Vec<_>>() {
            let size = self.find(address.into(), 0)?.size;
            let bytes = self.read_file(address, size)?;
            self.all.write_at(address, &bytes).ok_or(CudaError::InvalidValue)?;
            self.before.push((address, bytes));
        }
        Ok(())
    }

    /// At the end of a launch: makes visible to the host what it has written. Other bytes stay as they are, because the host may have written them during
    /// the launch.
    pub fn sync_to_host(&mut self) -> Result<(), CudaError> {
        for (address, before) in std::mem::take(&mut self.before) {
            let after = self.all.bytes_at(address, before.len() as u32).ok_or(CudaError::InvalidValue)?;
            for range in changed(&before, &after) {
                self.write_file(address + range.start as u32, &after[range])?;
            }
        }
        Ok(())
    }
}

/// The ranges of bytes that differ. Equal bytes between two that differ by less than [`GAP`] are in the range: otherwise each value of which some bytes
/// are equal would be several ranges, and each range is a call of the operating system.
fn changed(before: &[u8], after: &[u8]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (number, (old, new)) in before.chunks(CHUNK).zip(after.chunks(CHUNK)).enumerate() {
        if old == new {
            continue;
        }
        for at in (0..old.len()).filter(|&at| old[at] != new[at]).map(|at| number * CHUNK + at) {
            match ranges.last_mut() {
                Some(last) if at - last.end < GAP => last.end = at + 1,
                _ => ranges.push(at..at + 1),
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> DeviceMemory {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 32).unwrap();
        DeviceMemory::new(file)
    }

    /// What the host writes while a launch runs is neither seen by the launch nor lost.
    #[test]
    fn a_launch_writes_back_only_what_it_has_changed() {
        let mut memory = memory();
        let x = memory.allocate_shared(10_000, Kind::Host).unwrap();
        memory.write(x, &[1; 10_000]).unwrap();
        memory.sync_from_host().unwrap();
        for (at, bytes) in [(3, &[7][..]), (4094, &[7, 7, 7, 7]), (9999, &[7])] {
            memory.all_mut().write_at(x as u32 + at, bytes).unwrap();
        }
        for at in [0, 8, 4090, 4098, 9990] {
            memory.write(x + at, &[9]).unwrap();
        }
        memory.sync_to_host().unwrap();
        let mut expected = [1; 10_000];
        for (at, value) in [(3, 7), (9999, 7), (0, 9), (8, 9), (4090, 9), (4098, 9), (9990, 9)] {
            expected[at] = value;
        }
        expected[4094..4098].fill(7);
        assert_eq!(memory.read(x, 10_000).unwrap(), expected);
    }

    #[test]
    fn near_changes_are_one_range() {
        let [before, mut after] = [[0u8; 9000]; 2];
        assert_eq!(changed(&before, &after), []);
        for at in [0, 4, 8, 4095, 4096, 8999] {
            after[at] = 1;
        }
        assert_eq!(changed(&before, &after), [0..9, 4095..4097, 8999..9000]);
        after = before;
        (after[10], after[15]) = (1, 1);
        assert_eq!(changed(&before, &after), [10..11, 15..16]);
    }

    #[test]
    fn each_kind_is_freed_by_its_call() {
        let mut memory = memory();
        let device = memory.allocate(8).unwrap();
        let managed = memory.allocate_shared(8, Kind::Managed).unwrap();
        let host = memory.allocate_shared(8, Kind::Host).unwrap();
        let hidden = memory.allocate_hidden("hidden", 8).unwrap();
        let variable = memory.allocate_variable("variable", 8, None, false).unwrap();
        let places = [device, managed, host, hidden, variable].map(|address| memory.pointer(address)[0]);
        assert_eq!(places, [2, 3, 4, 2, 2]);
        memory.write(variable, &[5; 8]).unwrap();
        memory.share(variable as u32).unwrap();
        assert_eq!((memory.pointer(variable)[0], memory.read(variable, 8).unwrap()), (3, vec![5; 8]));
        for address in [host, hidden, variable] {
            assert_eq!(memory.free(address, &[Kind::Device, Kind::Managed]), Err(CudaError::InvalidValue));
        }
        assert_eq!(memory.free(device, &[Kind::Host]), Err(CudaError::InvalidValue));
        assert_eq!(memory.free(device, &[Kind::Device, Kind::Managed]), Ok(0));
        assert_eq!(memory.free(managed, &[Kind::Device, Kind::Managed]), Ok(8));
        assert_eq!(memory.free(host, &[Kind::Host]), Ok(8));
    }
}
