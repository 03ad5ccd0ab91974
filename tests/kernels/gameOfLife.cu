// Conway's game of life on a torus, a byte a cell, one generation a launch. The number of the pass says which of two boards is
// the older one. A block has its tile and the rim around it in shared memory, with byte loads and stores; it counts its living
// cells at a barrier.
// Integers only; not from a paper.
typedef unsigned char uchar;

__global__ void gameOfLife(uchar *even, uchar *odd, int *population, int width, int height, int generation)
{
    extern __shared__ uchar tile[];  // (blockDim.x + 2) x (blockDim.y + 2)

    const uchar *board = generation & 1 ? odd : even;
    uchar *next = generation & 1 ? even : odd;
    int pitch = blockDim.x + 2;
    int left = blockIdx.x * blockDim.x - 1;
    int top = blockIdx.y * blockDim.y - 1;

    for (int ty = threadIdx.y; ty < blockDim.y + 2; ty += blockDim.y) {
        int y = top + ty;
        y = y < 0 ? height - 1 : y >= height ? 0 : y;
        for (int tx = threadIdx.x; tx < pitch; tx += blockDim.x) {
            int x = left + tx;
            x = x < 0 ? width - 1 : x >= width ? 0 : x;
            tile[ty * pitch + tx] = board[y * width + x];
        }
    }
    __syncthreads();

    int x = left + 1 + threadIdx.x;
    int y = top + 1 + threadIdx.y;
    bool alive = false;
    if (x < width && y < height) {
        const uchar *above = tile + threadIdx.y * pitch + threadIdx.x;
        const uchar *row = above + pitch;
        const uchar *below = row + pitch;
        int neighbours = above[0] + above[1] + above[2] + row[0] + row[2] + below[0] + below[1] + below[2];
        alive = neighbours == 3 || (neighbours == 2 && row[1]);
        next[y * width + x] = alive;
    }

    int living = __syncthreads_count(alive);
    if (threadIdx.x == 0 && threadIdx.y == 0 && living > 0)
        atomicAdd(&population[generation], living);
}
