// A matrix times a vector: a thread to a row, a warp to a block. Threads that read along their rows would each need lines of their
// own, so the block passes the matrix through shared memory, 32 x 32 numbers at a time. The vector passes by shuffles.
// After mv_shared (matrix vector multiplication): sharing thesis table 3.8, 4224 bytes.
constexpr int TILE = 32;

__global__ void matrixVector(float *y, const float *matrix, const float *x, int columns)
{
    // One column more than needed, against bank conflicts.
    __shared__ float tile[TILE][TILE + 1];

    int thread = threadIdx.x;
    int top = blockIdx.x * TILE;
    float sum = 0.0f;
    for (int left = 0; left < columns; left += TILE) {
        float own = x[left + thread];
        for (int i = 0; i < TILE; ++i)
            tile[i][thread] = matrix[(top + i) * columns + left + thread];
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += tile[thread][i] * __shfl_sync(0xffffffff, own, i);
        __syncthreads();
    }
    y[top + thread] = sum;
}
