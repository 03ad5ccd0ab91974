// Gaussian elimination, one column a step: multipliers computes a column of factors, eliminate subtracts the pivot's row from all
// rows below, matrix and right-hand side. Small blocks, and ever fewer threads with work.
// After gaussian of Rodinia (Fan1, Fan2): hybrid paper 6.1, sharing thesis table 2.4.
__global__ void multipliers(float *factor, const float *a, int size, int step)
{
    int row = step + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < size)
        factor[row * size + step] = a[row * size + step] / a[step * size + step];
}

__global__ void eliminate(float *a, float *b, const float *factor, int size, int step)
{
    int row = step + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    int column = step + blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= size || column >= size)
        return;

    a[row * size + column] -= factor[row * size + step] * a[step * size + column];
    if (column == step)
        b[row] -= factor[row * size + step] * b[step];
}
