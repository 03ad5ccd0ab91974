// The 3n + 1 problem in 64 bits: how many steps a sequence takes to fall below its start, and how high it rises. Threads need
// from none to very many: a divergent loop with break and continue inside a divergent branch, whose lanes fan out step by
// step. They go in rounds, after each of which the warp votes: it leaves when all its threads are done, or when one of them
// has risen above `goal`.
// Integers only; not from a paper.
typedef unsigned int uint;
typedef unsigned long long ulonglong;

constexpr uint ALL = 0xffffffff;
constexpr int WARP = 32;  // `warpSize` is no constant: dividing by it would be a real division
constexpr int ROUND = 3;  // steps between two votes

// `limit` rounds at most. No value overflows if `goal` is below 2^61.
__global__ void collatz(ulonglong *peak, int *steps, int *rounds, ulonglong first, ulonglong stride, int n, ulonglong goal,
                        int limit)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    ulonglong start = first + stride * i;
    ulonglong value = start, highest = start;
    int count = 0;

    // An even start falls at once; threads beyond the last start only vote.
    bool done = i >= n || (start & 1) == 0;
    int round = 0;
    while (round < limit) {
        ++round;
        if (!done) {
#pragma unroll 1
            for (int step = 0; step < ROUND; ++step) {
                ++count;
                if (value & 1) {
                    value += (value >> 1) + 1;  // (3 value + 1) / 2
                    highest = max(highest, value);
                    continue;
                }
                value >>= __ffsll(value) - 1;  // all halvings at once
                if (value < start) {
                    done = true;
                    break;
                }
            }
        }
        if (__all_sync(ALL, done))
            break;
        if (__any_sync(ALL, highest > goal))
            break;
    }

    if (i < n) {
        peak[i] = highest;
        steps[i] = count;
    }
    if (threadIdx.x % WARP == 0) {
        int warps = (blockDim.x + WARP - 1) / WARP;
        rounds[blockIdx.x * warps + threadIdx.x / WARP] = round;
    }
}
