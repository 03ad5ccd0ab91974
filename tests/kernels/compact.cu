// Stream compaction: the values that are at least `threshold` move together. Each warp finds by ballot how many it keeps, its
// first lane takes as many places from a global counter, and a shuffle tells the others where they begin. Where a warp's
// values come to lie depends on who came first; so a second launch computes what no order changes: sum and exclusive or of all
// that is there.
// Integers only; not from a paper.
typedef unsigned int uint;
typedef unsigned long long ulonglong;

constexpr uint ALL = 0xffffffff;
constexpr int WARP = 32;

__global__ void compact(uint *kept, uint *count, const uint *values, int n, uint threshold)
{
    int lane = threadIdx.x & (WARP - 1);

    // All lanes of a warp turn as often.
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i - lane < n; i += blockDim.x * gridDim.x) {
        uint value = i < n ? values[i] : 0;
        bool keep = i < n && value >= threshold;
        uint lanes = __ballot_sync(ALL, keep);
        if (lanes == 0)
            continue;

        uint first = 0;
        if (lane == 0)
            first = atomicAdd(count, __popc(lanes));
        first = __shfl_sync(ALL, first, 0);
        if (keep)
            kept[first + __popc(lanes & ((1u << lane) - 1))] = value;
    }
}

__global__ void checksum(ulonglong *sum, uint *parity, const uint *kept, const uint *count)
{
    uint own = 0;
    ulonglong total = 0;
    for (uint i = blockIdx.x * blockDim.x + threadIdx.x; i < *count; i += blockDim.x * gridDim.x) {
        own ^= kept[i];
        total += kept[i];
    }
    atomicXor(parity, own);
    if (total > 0)
        atomicAdd(sum, total);
}
