// Blocks that wait for each other: an inclusive sum over the whole grid, by doubling distances, with a barrier of the grid after each step
// (cooperative groups); then each block waits for a flag that the next block raises, from the last to the first.

#include <cooperative_groups.h>

extern "C" __global__ void sum_up(unsigned *words, unsigned *other, int n) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = (int)grid.thread_rank();
    for (int distance = 1; distance < n; distance *= 2) {
        if (i < n) other[i] = words[i] + (i >= distance ? words[i - distance] : 0);
        grid.sync();
        unsigned *swap = words;
        words = other, other = swap;
    }
}

extern "C" __global__ void hand_over(volatile unsigned *flags, unsigned *order, unsigned *ended) {
    unsigned block = blockIdx.x;
    if (threadIdx.x == 0) {
        if (block + 1 < gridDim.x) {
            while (flags[block + 1] == 0) {
            }
        }
        order[block] = atomicAdd(ended, 1);
        __threadfence();
        flags[block] = 1;
    }
}
