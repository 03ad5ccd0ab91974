// Transpose through a tile in shared memory, so that both the loads and the stores are coalesced. The tile has one column more
// than it needs, which spreads a column over all banks. Any width and height.
// After transpose of the CUDA SDK, a suite that the stealing paper draws on.
constexpr int TILE = 32;
constexpr int ROWS = 8;

__global__ void transpose(float *out, const float *__restrict__ in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];

    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];

    __syncthreads();

    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
