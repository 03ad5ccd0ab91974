// Inclusive prefix sums in two launches. scanBlocks: warps sum by shuffles, the first warp sums the warps' totals in shared
// memory, and each block leaves its own total; addOffsets adds the totals of all earlier blocks. Blocks of any size up to
// 1024.
// Integers only; not from a paper.
typedef unsigned int uint;

constexpr uint ALL = 0xffffffff;
constexpr int WARP = 32;   // `warpSize` is no constant: dividing by it would be a real division
constexpr int WARPS = 32;  // the most that a block has

// The sum of the values of this lane and of the lanes below it.
__device__ int sumUpToLane(int value, int lane)
{
    for (int distance = 1; distance < WARP; distance <<= 1) {
        int below = __shfl_up_sync(ALL, value, distance);
        if (lane >= distance)
            value += below;
    }
    return value;
}

__global__ void scanBlocks(int *sums, int *totals, const int *values, int n)
{
    __shared__ int warpTotal[WARPS];

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & (WARP - 1);
    int warp = threadIdx.x / WARP;
    int warps = (blockDim.x + WARP - 1) / WARP;

    int sum = sumUpToLane(i < n ? values[i] : 0, lane);
    if (lane == WARP - 1 || threadIdx.x == blockDim.x - 1)
        warpTotal[warp] = sum;
    __syncthreads();

    // A block has at least as many threads in its first warp as it has warps.
    if (warp == 0) {
        int total = sumUpToLane(lane < warps ? warpTotal[lane] : 0, lane);
        if (lane < warps)
            warpTotal[lane] = total;
    }
    __syncthreads();

    if (warp > 0)
        sum += warpTotal[warp - 1];
    if (i < n)
        sums[i] = sum;
    if (threadIdx.x == blockDim.x - 1)
        totals[blockIdx.x] = sum;
}

__global__ void addOffsets(int *sums, const int *totals, int n)
{
    __shared__ int offset;

    // The first block has nothing to add.
    if (blockIdx.x == 0)
        return;

    if (threadIdx.x < WARP) {
        int part = 0;
        for (int block = threadIdx.x; block < blockIdx.x; block += WARP)
            part += totals[block];
        // The first warp may not be full: nothing comes from lanes that it lacks.
        for (int distance = WARP / 2; distance > 0; distance >>= 1) {
            int above = __shfl_down_sync(ALL, part, distance);
            if (threadIdx.x + distance < min(blockDim.x, WARP))
                part += above;
        }
        if (threadIdx.x == 0)
            offset = part;
    }
    __syncthreads();

    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sums[i] += offset;
}
