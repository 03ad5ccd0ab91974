// The cheapest path down a grid of costs, by dynamic programming: each step goes straight or diagonally. A block computes
// several rows in shared memory before it writes back; its valid part shrinks by one on both sides with each row.
// After pathfinder of Rodinia (dynproc_kernel): sharing thesis table 4.3.
__global__ void pathfinder(int rows, const int *wall, const int *source, int *result, int columns, int firstRow)
{
    extern __shared__ int shared[];
    int *previous = shared;
    int *current = shared + blockDim.x;

    int tx = threadIdx.x;
    int inner = blockDim.x - 2 * rows;
    int left = blockIdx.x * inner - rows;
    int x = left + tx;
    bool valid = x >= 0 && x < columns;

    int first = max(0, -left);
    int last = min((int)blockDim.x - 1, columns - 1 - left);
    int west = max(tx - 1, first);
    int east = min(tx + 1, last);

    if (valid)
        previous[tx] = source[x];
    __syncthreads();

    bool done = false;
    for (int row = 0; row < rows; ++row) {
        done = tx >= row + 1 && tx <= (int)blockDim.x - 2 - row && valid;
        if (done) {
            int shortest = min(min(previous[west], previous[tx]), previous[east]);
            current[tx] = shortest + wall[columns * (firstRow + row) + x];
        }
        __syncthreads();
        if (row == rows - 1)
            break;
        if (done)
            previous[tx] = current[tx];
        __syncthreads();
    }

    if (done)
        result[x] = current[tx];
}
