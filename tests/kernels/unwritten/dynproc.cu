// The cheapest path down a grid of costs, in the style of pathfinder of Rodinia (dynproc_kernel): whether a thread has
// computed a cell is declared in front of the loop and written in it, so that it is live at the kernel's entry.
__global__ void dynproc(int rows, const int *wall, const int *source, int *result, int columns, int firstRow)
{
    __shared__ int previous[64];
    __shared__ int current[64];

    int tx = threadIdx.x;
    int inner = 64 - 2 * rows;
    int left = inner * blockIdx.x - rows;
    int right = left + 63;
    int x = left + tx;

    int first = left < 0 ? -left : 0;
    int last = right > columns - 1 ? 63 - (right - columns + 1) : 63;
    int west = tx - 1 < first ? first : tx - 1;
    int east = tx + 1 > last ? last : tx + 1;
    bool valid = tx >= first && tx <= last;

    if (x >= 0 && x <= columns - 1)
        previous[tx] = source[x];
    __syncthreads();

    bool computed;
    for (int row = 0; row < rows; ++row) {
        computed = false;
        if (tx >= row + 1 && tx <= 64 - row - 2 && valid) {
            computed = true;
            int shortest = min(min(previous[west], previous[tx]), previous[east]);
            current[tx] = shortest + wall[columns * (firstRow + row) + x];
        }
        __syncthreads();
        if (row == rows - 1)
            break;
        if (computed)
            previous[tx] = current[tx];
        __syncthreads();
    }

    if (computed)
        result[x] = current[tx];
}
