// y = alpha A x + beta y, column-major: a thread has a row, and walks along it, so that a warp's loads of A are coalesced. A block
// loads a part of x to shared memory at a time, for all its rows.
// After sgemv of MAGMA: hierarchy thesis table 4.3.
constexpr int THREADS = 128;

__global__ void sgemv(int rows, int columns, float alpha, const float *a, int lda, const float *x, float beta, float *y)
{
    __shared__ float part[THREADS];

    int i = threadIdx.x;
    int row = blockIdx.x * THREADS + i;
    float sum = 0.0f;

    for (int first = 0; first < columns; first += THREADS) {
        if (first + i < columns)
            part[i] = x[first + i];
        __syncthreads();
        if (row < rows) {
            int count = min(THREADS, columns - first);
            for (int j = 0; j < count; ++j)
                sum += a[(first + j) * lda + row] * part[j];
        }
        __syncthreads();
    }
    if (row < rows)
        y[row] = alpha * sum + beta * y[row];
}
