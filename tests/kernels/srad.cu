// Speckle-reducing anisotropic diffusion of an ultrasound picture: srad1 computes each pixel's four differences and its
// diffusion coefficient, with several divisions; srad2 takes the divergence and moves the pixel. Tiles in shared memory, the rim
// from global memory; the picture's edge is repeated.
// After srad of Rodinia (srad_v2, 16 x 16 threads): hierarchy thesis table 4.2, sharing thesis table 2.2 (both kernels).
constexpr int SIZE = 16;

__global__ void srad1(float *north, float *south, float *east, float *west, float *coefficient, const float *picture,
                      int columns, int rows, float q0Squared)
{
    __shared__ float tile[SIZE][SIZE];
    __shared__ float above[SIZE], below[SIZE], right[SIZE], left[SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * SIZE + tx, y = blockIdx.y * SIZE + ty;
    int i = y * columns + x;

    tile[ty][tx] = picture[i];
    if (ty == 0)
        above[tx] = picture[max(y - 1, 0) * columns + x];
    if (ty == SIZE - 1)
        below[tx] = picture[min(y + 1, rows - 1) * columns + x];
    if (tx == 0)
        left[ty] = picture[y * columns + max(x - 1, 0)];
    if (tx == SIZE - 1)
        right[ty] = picture[y * columns + min(x + 1, columns - 1)];
    __syncthreads();

    float j = tile[ty][tx];
    float n = (ty == 0 ? above[tx] : tile[ty - 1][tx]) - j;
    float s = (ty == SIZE - 1 ? below[tx] : tile[ty + 1][tx]) - j;
    float w = (tx == 0 ? left[ty] : tile[ty][tx - 1]) - j;
    float e = (tx == SIZE - 1 ? right[ty] : tile[ty][tx + 1]) - j;

    float g2 = (n * n + s * s + w * w + e * e) / (j * j);
    float l = (n + s + w + e) / j;
    float numerator = 0.5f * g2 - (1.0f / 16.0f) * (l * l);
    float denominator = 1.0f + 0.25f * l;
    float qSquared = numerator / (denominator * denominator);
    float c = 1.0f / (1.0f + (qSquared - q0Squared) / (q0Squared * (1.0f + q0Squared)));
    if (c < 0.0f)
        c = 0.0f;
    else if (c > 1.0f)
        c = 1.0f;

    coefficient[i] = c;
    north[i] = n;
    south[i] = s;
    east[i] = e;
    west[i] = w;
}

__global__ void srad2(float *picture, const float *north, const float *south, const float *east, const float *west,
                      const float *coefficient, int columns, int rows, float lambda)
{
    __shared__ float tile[SIZE][SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * SIZE + tx, y = blockIdx.y * SIZE + ty;
    int i = y * columns + x;

    float centre = coefficient[i];
    tile[ty][tx] = centre;
    __syncthreads();

    float cSouth = ty < SIZE - 1 ? tile[ty + 1][tx] : coefficient[min(y + 1, rows - 1) * columns + x];
    float cEast = tx < SIZE - 1 ? tile[ty][tx + 1] : coefficient[y * columns + min(x + 1, columns - 1)];
    float divergence = centre * north[i] + cSouth * south[i] + centre * west[i] + cEast * east[i];
    picture[i] += 0.25f * lambda * divergence;
}
