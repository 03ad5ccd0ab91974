// A stable radix sort of keys within blocks, by their lowest eight bits, two bits a launch. A key's place is the number of
// smaller digits in the block, of equal ones in earlier warps, and of equal ones in lower lanes of its warp, which ballots
// tell. Keys change places in shared memory. The number of the pass says which bits count, and which buffer is read.
// Integers only; not from a paper.
typedef unsigned int uint;

constexpr uint ALL = 0xffffffff;
constexpr int WARP = 32;      // `warpSize` is no constant: dividing by it would be a real division
constexpr int BITS = 2;
constexpr int DIGITS = 1 << BITS;
constexpr int THREADS = 256;  // at most: so the first warp has a lane for each digit and warp

__global__ void radixSort(uint *even, uint *odd, int pass)
{
    __shared__ uint sorted[THREADS];
    __shared__ uint place[DIGITS * THREADS / WARP];  // by digit, then by warp

    const uint *in = pass & 1 ? odd : even;
    uint *out = pass & 1 ? even : odd;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & (WARP - 1);
    int warp = threadIdx.x / WARP;
    int warps = (blockDim.x + WARP - 1) / WARP;

    uint key = in[i];
    uint digit = key >> (BITS * pass) & (DIGITS - 1);
    uint equal = 0;    // the lanes with this one's digit
    uint counted = 0;  // in lane d the lanes with digit d: a last warp that is not full needs DIGITS lanes
    for (uint d = 0; d < DIGITS; ++d) {
        uint lanes = __ballot_sync(ALL, digit == d);
        if (digit == d)
            equal = lanes;
        if (lane == d)
            counted = lanes;
    }
    uint rank = __popc(equal & ((1u << lane) - 1));
    if (lane < DIGITS)
        place[lane * warps + warp] = __popc(counted);
    __syncthreads();

    // Exclusive prefix sums of the counts. A first warp that is not full has no more counts than lanes.
    if (warp == 0) {
        uint count = lane < DIGITS * warps ? place[lane] : 0;
        uint sum = count;
        for (int distance = 1; distance < WARP; distance <<= 1) {
            uint below = __shfl_up_sync(ALL, sum, distance);
            if (lane >= distance)
                sum += below;
        }
        if (lane < DIGITS * warps)
            place[lane] = sum - count;
    }
    __syncthreads();

    sorted[place[digit * warps + warp] + rank] = key;
    __syncthreads();

    out[i] = sorted[threadIdx.x];
}
