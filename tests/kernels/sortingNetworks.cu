// Sorts arrays of key-value pairs with Batcher's bitonic network: short runs in dynamic shared memory, longer ones with
// compare-exchange steps over global memory. A pair travels as one 64-bit word, its key on top. Control flow does not depend on
// the data; there is a barrier for every step.
// After SortingNetworks of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1.
typedef unsigned int uint;
typedef unsigned long long ulonglong;

__device__ inline ulonglong pack(uint key, uint value) { return (ulonglong)key << 32 | value; }

// The lower element of comparator n, where partners are `stride` apart, a power of two.
__device__ inline uint lower(uint n, uint stride) { return 2 * n - (n & (stride - 1)); }

__device__ inline void compareExchange(ulonglong &a, ulonglong &b, bool ascending)
{
    ulonglong small = min(a, b), large = max(a, b);
    a = ascending ? small : large;
    b = ascending ? large : small;
}

// Sorts runs of twice as many pairs as threads, one a block; even runs ascend, odd ones descend, as merging wants them.
__global__ void bitonicSortShared(uint *keys, uint *values)
{
    extern __shared__ ulonglong pair[];
    uint run = 2 * blockDim.x;
    keys += blockIdx.x * run;
    values += blockIdx.x * run;

    for (uint i = threadIdx.x; i < run; i += blockDim.x)
        pair[i] = pack(keys[i], values[i]);

    for (uint size = 2; size <= run; size *= 2)
        for (uint stride = size / 2; stride > 0; stride /= 2) {
            uint at = lower(threadIdx.x, stride);
            bool ascending = ((blockIdx.x * run + at) & size) == 0;
            __syncthreads();
            compareExchange(pair[at], pair[at + stride], ascending);
        }

    __syncthreads();
    for (uint i = threadIdx.x; i < run; i += blockDim.x) {
        keys[i] = pair[i] >> 32;
        values[i] = (uint)pair[i];
    }
}

// One step of merging runs to whole arrays, which ascend.
__global__ void bitonicMergeGlobal(uint *keys, uint *values, uint stride)
{
    uint at = lower(blockIdx.x * blockDim.x + threadIdx.x, stride);
    ulonglong a = pack(keys[at], values[at]);
    ulonglong b = pack(keys[at + stride], values[at + stride]);
    compareExchange(a, b, true);
    keys[at] = a >> 32;
    values[at] = (uint)a;
    keys[at + stride] = b >> 32;
    values[at + stride] = (uint)b;
}
