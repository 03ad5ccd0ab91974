// A histogram of the upper six bits of bytes: atomics on shared memory, where lanes meet in a bin, then on global memory.
// Beside it the greatest word, by compare and swap; counters that wrap around, by atomicInc; and the fullest bin, which the
// last block finds: a ticket tells it that it is the last.
// Integers only; not from a paper.
typedef unsigned int uint;

constexpr int BINS = 64;
constexpr int WHEELS = 4;
constexpr uint LAST_TOOTH = 6;  // a wheel counts 0 to 6, and then 0 again

// As atomicMax, but by compare and swap: a turn ends the loop, or somebody else has raised the value.
__device__ void raise(uint *greatest, uint value)
{
    uint assumed, found = 0;
    do {
        assumed = found;
        found = atomicCAS(greatest, assumed, value);
    } while (found != assumed && found < value);
}

__global__ void countBytes(uint *histogram, uint *greatest, uint *wheel, uint *fullest, uint *ticket, const uint *data,
                           int words)
{
    __shared__ uint bin[BINS];
    __shared__ uint blockGreatest;
    __shared__ uint blockFullest;
    __shared__ bool last;

    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        bin[b] = 0;
    if (threadIdx.x == 0) {
        blockGreatest = 0;
        blockFullest = 0;
    }
    __syncthreads();

    uint own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += blockDim.x * gridDim.x) {
        uint word = data[i];
        atomicAdd(&bin[(word >> 2) & (BINS - 1)], 1);
        atomicAdd(&bin[(word >> 10) & (BINS - 1)], 1);
        atomicAdd(&bin[(word >> 18) & (BINS - 1)], 1);
        atomicAdd(&bin[word >> 26], 1);
        own = max(own, word);
        if (word & 1)
            atomicInc(&wheel[(word >> 1) & (WHEELS - 1)], LAST_TOOTH);
    }
    raise(&blockGreatest, own);
    __syncthreads();

    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (bin[b])
            atomicAdd(&histogram[b], bin[b]);
    if (threadIdx.x == 0)
        raise(greatest, blockGreatest);
    __threadfence();
    __syncthreads();

    // The ticket is 0 again when the last block has drawn.
    if (threadIdx.x == 0)
        last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        atomicMax(&blockFullest, atomicAdd(&histogram[b], 0) * BINS + b);
    __syncthreads();
    if (threadIdx.x == 0)
        *fullest = blockFullest;
}
