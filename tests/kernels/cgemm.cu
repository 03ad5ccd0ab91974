// C = alpha A B + beta C of complex numbers in single precision, column-major. A block of 16 x 16 threads computes a tile of 64 x 64,
// each thread 4 x 4 elements of it in registers, from slices of A and B in shared memory: 64 x 16 and 16 x 64, rows padded by one.
// In the place of dgemm of MAGMA, for Fermi: hierarchy thesis tables 4.3 and 7.2. A complex number in single precision has the bytes
// of a number in double precision, in shared memory and in registers; the machine has no double precision.
constexpr int THREADS = 16;  // along each side of a block
constexpr int EACH = 4;      // elements of a thread along each side of the tile
constexpr int TILE = THREADS * EACH;
constexpr int SLICE = 16;

__device__ inline float2 multiply(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

__device__ inline void multiplyAdd(float2 &sum, float2 a, float2 b)
{
    sum.x += a.x * b.x;
    sum.x -= a.y * b.y;
    sum.y += a.x * b.y;
    sum.y += a.y * b.x;
}

__global__ void cgemmNN(const float2 *a, int lda, const float2 *b, int ldb, float2 *c, int ldc, int k, float alphaReal,
                        float alphaImaginary, float betaReal, float betaImaginary)
{
    __shared__ float2 sliceA[SLICE][TILE + 1];
    __shared__ float2 sliceB[TILE][SLICE + 1];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.x * TILE + tx;
    int column = blockIdx.y * TILE + ty;
    float2 sum[EACH][EACH];

    for (int n = 0; n < EACH; ++n)
        for (int m = 0; m < EACH; ++m)
            sum[n][m] = make_float2(0.0f, 0.0f);

    a += ty * lda + row;
    b += column * ldb + tx;
    for (int i = 0; i < k; i += SLICE) {
        for (int m = 0; m < EACH; ++m)
            sliceA[ty][m * THREADS + tx] = a[m * THREADS];
        for (int n = 0; n < EACH; ++n)
            sliceB[n * THREADS + ty][tx] = b[n * THREADS * ldb];
        a += SLICE * lda;
        b += SLICE;
        __syncthreads();

#pragma unroll 1
        for (int s = 0; s < SLICE; ++s) {
            float2 fromA[EACH];
            for (int m = 0; m < EACH; ++m)
                fromA[m] = sliceA[s][m * THREADS + tx];
            for (int n = 0; n < EACH; ++n) {
                float2 fromB = sliceB[n * THREADS + ty][s];
                for (int m = 0; m < EACH; ++m)
                    multiplyAdd(sum[n][m], fromA[m], fromB);
            }
        }
        __syncthreads();
    }

    float2 alpha = make_float2(alphaReal, alphaImaginary), beta = make_float2(betaReal, betaImaginary);
    for (int n = 0; n < EACH; ++n)
        for (int m = 0; m < EACH; ++m) {
            float2 *out = &c[(column + n * THREADS) * ldc + row + m * THREADS];
            float2 old = multiply(beta, *out), fresh = multiply(alpha, sum[n][m]);
            *out = make_float2(old.x + fresh.x, old.y + fresh.y);
        }
}
