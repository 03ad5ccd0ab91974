// Needleman-Wunsch alignment of two sequences: a table of scores, in which a cell depends on its upper, left and upper-left
// neighbour. A launch computes one diagonal of 16 x 16 tiles, a block walks along the diagonals of its tile in shared memory.
// Blocks of half a warp; at most 16 threads work, often fewer.
// After needle / nw of Rodinia: hierarchy thesis tables 4.2 and 4.3, hybrid paper 6.1, sharing thesis table 2.2 (both kernels).
#ifndef TILE
#define TILE 16
#endif
#ifndef PITCH
#define PITCH (TILE + 1)
#endif

__device__ void alignTile(int *score, const int *similarity, int columns, int penalty, int bx, int by)
{
    __shared__ int cell[TILE + 1][PITCH];
    __shared__ int match[TILE][TILE];

    int tx = threadIdx.x;
    int corner = columns * TILE * by + TILE * bx;  // upper left, in the row and column before the tile

    for (int ty = 0; ty < TILE; ++ty)
        match[ty][tx] = similarity[corner + columns * (ty + 1) + tx + 1];
    if (tx == 0)
        cell[0][0] = score[corner];
    cell[tx + 1][0] = score[corner + columns * (tx + 1)];
    cell[0][tx + 1] = score[corner + tx + 1];
    __syncthreads();

    for (int m = 0; m < TILE; ++m) {
        if (tx <= m) {
            int x = tx + 1, y = m - tx + 1;
            cell[y][x] = max(max(cell[y - 1][x - 1] + match[y - 1][x - 1], cell[y][x - 1] - penalty), cell[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int m = TILE - 2; m >= 0; --m) {
        if (tx <= m) {
            int x = tx + TILE - m, y = TILE - tx;
            cell[y][x] = max(max(cell[y - 1][x - 1] + match[y - 1][x - 1], cell[y][x - 1] - penalty), cell[y - 1][x] - penalty);
        }
        __syncthreads();
    }

    for (int ty = 0; ty < TILE; ++ty)
        score[corner + columns * (ty + 1) + tx + 1] = cell[ty + 1][tx + 1];
}

// The first row and column: only gaps.
__global__ void needleBorder(int *score, int columns, int penalty)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < columns) {
        score[i] = -i * penalty;
        score[i * columns] = -i * penalty;
    }
}

// Diagonals from the upper-left corner to the middle; blocks beyond the diagonal's end have nothing to do.
__global__ void needleUpperLeft(int *score, const int *similarity, int columns, int penalty, int diagonal)
{
    int bx = blockIdx.x;
    if (bx <= diagonal)
        alignTile(score, similarity, columns, penalty, bx, diagonal - bx);
}

// Diagonals behind the middle, to the lower-right corner.
__global__ void needleLowerRight(int *score, const int *similarity, int columns, int penalty, int tiles, int diagonal)
{
    int bx = blockIdx.x + diagonal + 1;
    if (bx < tiles)
        alignTile(score, similarity, columns, penalty, bx, tiles - 1 - blockIdx.x);
}
