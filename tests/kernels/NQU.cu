// How many ways there are to put N queens on a board of N x N so that none attacks another. The first rows of the board are given
// by the number of the thread: a digit a row. Each thread looks for all ways to go on from there, with a stack in shared memory;
// a block adds up what its threads have found.
// After NQU of GPGPU-Sim (solve_nqueen_cuda_kernel, stacks of ten rows): sharing thesis table 3.3, 10496 bytes.
constexpr int THREADS = 64;
constexpr int DEPTH = 10;

__global__ void countQueens(unsigned *solutions, int size, int given)
{
    // Of a row: fields still to be tried; fields attacked from above along the column and along both diagonals.
    __shared__ unsigned open[DEPTH][THREADS];
    __shared__ unsigned columns[DEPTH][THREADS], leftward[DEPTH][THREADS], rightward[DEPTH][THREADS];
    __shared__ unsigned found[THREADS];

    int thread = threadIdx.x;
    unsigned board = (1u << size) - 1;
    unsigned column = 0, left = 0, right = 0;

    // The given rows. Beyond the last number, and where given queens attack each other, there is nothing to find.
    int digits = blockIdx.x * blockDim.x + thread;
    bool possible = true;
    for (int row = 0; row < given; ++row) {
        unsigned queen = 1u << (digits % size);
        digits /= size;
        possible = possible && !((column | left | right) & queen);
        column |= queen;
        left = (left | queen) << 1;
        right = (right | queen) >> 1;
    }
    possible = possible && digits == 0;

    unsigned count = 0;
    int level = possible ? 0 : -1, last = size - given - 1;
    if (possible) {
        columns[0][thread] = column;
        leftward[0][thread] = left;
        rightward[0][thread] = right;
        open[0][thread] = board & ~(column | left | right);
    }
    while (level >= 0) {
        unsigned fields = open[level][thread];
        if (fields == 0) {
            --level;
            continue;
        }
        unsigned queen = fields & -fields;
        open[level][thread] = fields ^ queen;
        if (level == last) {
            ++count;
            continue;
        }
        column = columns[level][thread] | queen;
        left = (leftward[level][thread] | queen) << 1;
        right = (rightward[level][thread] | queen) >> 1;
        ++level;
        columns[level][thread] = column;
        leftward[level][thread] = left;
        rightward[level][thread] = right;
        open[level][thread] = board & ~(column | left | right);
    }

    found[thread] = count;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            found[thread] += found[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        solutions[blockIdx.x] = found[0];
}
