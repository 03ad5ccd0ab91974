// A step of finite differences in three dimensions, with four neighbours on either side in each direction. A block walks along z:
// each thread keeps its column's cells before and behind the plane in registers, and the block the plane with its rim in shared
// memory. The volume has a rim of four cells on all sides, which is read and not written.
// After FDTD3d of the CUDA SDK (FiniteDifferencesKernel; shared memory for blocks of 32 x 16 threads): sharing thesis table 3.3,
// 3840 bytes.
constexpr int RADIUS = 4;
constexpr int BX = 32;
constexpr int MOST_BY = 16;

__constant__ float factor[RADIUS + 1];

__global__ void stepOfDifferences(float *out, const float *in, int nx, int ny, int nz)
{
    __shared__ float tile[MOST_BY + 2 * RADIUS][BX + 2 * RADIUS];

    int tx = threadIdx.x + RADIUS, ty = threadIdx.y + RADIUS;
    int by = blockDim.y;
    int pitch = nx + 2 * RADIUS, plane = pitch * (ny + 2 * RADIUS);
    int place = (blockIdx.y * by + ty) * pitch + blockIdx.x * BX + tx;

    // From the cell that is RADIUS planes before to the one as many behind.
    float column[2 * RADIUS + 1];
#pragma unroll
    for (int i = 0; i < 2 * RADIUS; ++i)
        column[i + 1] = in[place + i * plane];

    for (int z = 0; z < nz; ++z) {
#pragma unroll
        for (int i = 0; i < 2 * RADIUS; ++i)
            column[i] = column[i + 1];
        column[2 * RADIUS] = in[place + (z + 2 * RADIUS) * plane];

        const float *cell = in + place + (z + RADIUS) * plane;
        __syncthreads();
        tile[ty][tx] = column[RADIUS];
        if (threadIdx.y < RADIUS) {
            tile[threadIdx.y][tx] = cell[-RADIUS * pitch];
            tile[ty + by][tx] = cell[by * pitch];
        }
        if (threadIdx.x < RADIUS) {
            tile[ty][threadIdx.x] = cell[-RADIUS];
            tile[ty][tx + BX] = cell[BX];
        }
        __syncthreads();

        float sum = factor[0] * column[RADIUS];
#pragma unroll
        for (int i = 1; i <= RADIUS; ++i)
            sum += factor[i] * (column[RADIUS - i] + column[RADIUS + i] + tile[ty - i][tx] + tile[ty + i][tx] + tile[ty][tx - i] +
                                tile[ty][tx + i]);
        out[place + (z + RADIUS) * plane] = sum;
    }
}
