// Histograms of bytes, four of which are read at a time.
// histogram64 counts the upper six bits: each thread has a byte counter of its own for each bin in shared memory, so there are no
// atomics; the counters are then added up, by bin. histogram256 counts all values: each warp has a histogram of its own, filled
// with shared-memory atomics; all are added to the result with global atomics.
// After histogram of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1, sharing thesis table 3.8.
typedef unsigned char uchar;
typedef unsigned int uint;

constexpr int THREADS64 = 64;
constexpr int BINS64 = 64;
// Warps of a block for which there is room.
#ifndef WARPS256
#define WARPS256 4
#endif
constexpr int BINS256 = 256;

__global__ void histogram64(uint *histogram, const uchar4 *data, int words)
{
    __shared__ uchar counter[BINS64][THREADS64];

    // By words: four counters at a time.
    uint *clear = reinterpret_cast<uint *>(&counter[0][0]);
    for (int i = threadIdx.x; i < BINS64 * THREADS64 / 4; i += THREADS64)
        clear[i] = 0;
    __syncthreads();

    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x) {
        uchar4 value = data[i];
        counter[value.x >> 2][threadIdx.x]++;
        counter[value.y >> 2][threadIdx.x]++;
        counter[value.z >> 2][threadIdx.x]++;
        counter[value.w >> 2][threadIdx.x]++;
    }
    __syncthreads();

    // One thread a bin; it starts at its own column, so that the warp reads different banks.
    uint sum = 0;
    for (int i = 0; i < THREADS64; ++i)
        sum += counter[threadIdx.x][(threadIdx.x + i) & (THREADS64 - 1)];
    atomicAdd(&histogram[threadIdx.x], sum);
}

__global__ void histogram256(uint *histogram, const uint *data, int words)
{
    __shared__ uint counter[WARPS256 * BINS256];

    for (int i = threadIdx.x; i < WARPS256 * BINS256; i += blockDim.x)
        counter[i] = 0;
    __syncthreads();

    uint *mine = counter + (threadIdx.x / warpSize) * BINS256;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x) {
        uint value = data[i];
        atomicAdd(mine + (value & 0xff), 1);
        atomicAdd(mine + ((value >> 8) & 0xff), 1);
        atomicAdd(mine + ((value >> 16) & 0xff), 1);
        atomicAdd(mine + (value >> 24), 1);
    }
    __syncthreads();

    for (int bin = threadIdx.x; bin < BINS256; bin += blockDim.x) {
        uint sum = 0;
        for (int warp = 0; warp < WARPS256; ++warp)
            sum += counter[warp * BINS256 + bin];
        if (sum)
            atomicAdd(&histogram[bin], sum);
    }
}
