// C = alpha A B^T + beta C, column-major, blocked in registers: a thread keeps 16 elements of one row of C, its block's 128
// threads cover 128 rows by 16 columns, and share a slice of B in shared memory. Many live registers, much arithmetic.
// After sgemm of Parboil (mysgemmNT, 128 threads a block): sharing thesis tables 2.1 and 4.3.
constexpr int COLUMNS = 16;
constexpr int SLICE = 8;
constexpr int ROWS = COLUMNS * SLICE;  // also the threads of a block

__global__ void sgemmNT(const float *a, int lda, const float *b, int ldb, float *c, int ldc, int k, float alpha, float beta)
{
    __shared__ float slice[SLICE][COLUMNS];

    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    int row = blockIdx.x * ROWS + thread;
    int column = blockIdx.y * COLUMNS;
    float sum[COLUMNS];

    for (int j = 0; j < COLUMNS; ++j)
        sum[j] = 0.0f;

    for (int i = 0; i < k; i += SLICE) {
        slice[threadIdx.y][threadIdx.x] = b[(i + threadIdx.y) * ldb + column + threadIdx.x];
        __syncthreads();
        for (int s = 0; s < SLICE; ++s) {
            float value = a[(i + s) * lda + row];
            for (int j = 0; j < COLUMNS; ++j)
                sum[j] += value * slice[s][j];
        }
        __syncthreads();
    }

    for (int j = 0; j < COLUMNS; ++j) {
        float *out = &c[(column + j) * ldc + row];
        *out = beta * *out + alpha * sum[j];
    }
}
