// The first half of srad with shared memory for whole tiles, also where only a tile's rim is fetched, and for the results: each
// pixel's differences to its neighbours, and its diffusion coefficient.
// After srad_cuda_1 of Rodinia (srad_v2): sharing thesis tables 2.2 (256 threads, 6144 bytes) and 3.3 (13824 bytes: 24 x 24 threads).
#ifndef SIZE
#define SIZE 16
#endif

__global__ void srad1(float *north, float *south, float *east, float *west, float *coefficient, const float *picture,
                      int columns, int rows, float q0Squared)
{
    __shared__ float tile[SIZE][SIZE], result[SIZE][SIZE];
    __shared__ float above[SIZE][SIZE], below[SIZE][SIZE], right[SIZE][SIZE], left[SIZE][SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * SIZE + tx, y = blockIdx.y * SIZE + ty;
    int i = y * columns + x;

    if (ty == 0)
        above[ty][tx] = picture[max(y - 1, 0) * columns + x];
    if (ty == SIZE - 1)
        below[ty][tx] = picture[min(y + 1, rows - 1) * columns + x];
    if (tx == 0)
        left[ty][tx] = picture[y * columns + max(x - 1, 0)];
    if (tx == SIZE - 1)
        right[ty][tx] = picture[y * columns + min(x + 1, columns - 1)];
    tile[ty][tx] = picture[i];
    __syncthreads();

    float j = tile[ty][tx];
    float n = (ty == 0 ? above[ty][tx] : tile[ty - 1][tx]) - j;
    float s = (ty == SIZE - 1 ? below[ty][tx] : tile[ty + 1][tx]) - j;
    float w = (tx == 0 ? left[ty][tx] : tile[ty][tx - 1]) - j;
    float e = (tx == SIZE - 1 ? right[ty][tx] : tile[ty][tx + 1]) - j;

    float g2 = (n * n + s * s + w * w + e * e) / (j * j);
    float l = (n + s + w + e) / j;
    float numerator = 0.5f * g2 - (1.0f / 16.0f) * (l * l);
    float denominator = 1.0f + 0.25f * l;
    float qSquared = numerator / (denominator * denominator);
    float c = 1.0f / (1.0f + (qSquared - q0Squared) / (q0Squared * (1.0f + q0Squared)));
    result[ty][tx] = fminf(fmaxf(c, 0.0f), 1.0f);
    __syncthreads();

    coefficient[i] = result[ty][tx];
    north[i] = n;
    south[i] = s;
    east[i] = e;
    west[i] = w;
}
