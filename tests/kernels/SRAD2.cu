// The second half of srad with shared memory for whole tiles, also where only a tile's rim is fetched, for the picture and for the
// results: each pixel moves by the divergence of the differences times the coefficients.
// After srad_cuda_2 of Rodinia (srad_v2): sharing thesis tables 2.2 (256 threads, 5120 bytes) and 3.3 (11520 bytes: 24 x 24 threads).
#ifndef SIZE
#define SIZE 16
#endif

__global__ void srad2(float *picture, const float *north, const float *south, const float *east, const float *west,
                      const float *coefficient, int columns, int rows, float lambda)
{
    __shared__ float tile[SIZE][SIZE], before[SIZE][SIZE], result[SIZE][SIZE];
    __shared__ float below[SIZE][SIZE], right[SIZE][SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * SIZE + tx, y = blockIdx.y * SIZE + ty;
    int i = y * columns + x;

    before[ty][tx] = picture[i];
    if (ty == SIZE - 1)
        below[ty][tx] = coefficient[min(y + 1, rows - 1) * columns + x];
    if (tx == SIZE - 1)
        right[ty][tx] = coefficient[y * columns + min(x + 1, columns - 1)];
    tile[ty][tx] = coefficient[i];
    __syncthreads();

    float centre = tile[ty][tx];
    float cSouth = ty == SIZE - 1 ? below[ty][tx] : tile[ty + 1][tx];
    float cEast = tx == SIZE - 1 ? right[ty][tx] : tile[ty][tx + 1];
    float divergence = centre * north[i] + cSouth * south[i] + centre * west[i] + cEast * east[i];
    result[ty][tx] = before[ty][tx] + 0.25f * lambda * divergence;
    __syncthreads();

    picture[i] = result[ty][tx];
}
