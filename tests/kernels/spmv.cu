// A sparse matrix times a vector, the matrix in jagged diagonal storage: rows are sorted by length, and the k-th elements of all
// rows lie one after the other, so that a warp's loads of the matrix are coalesced; those of the vector are gathered.
// After spmv of Parboil (spmv_jds): sharing thesis table 4.3.
constexpr int MAX_DIAGONALS = 32;

// Where the k-th elements start; one entry more than there are diagonals.
__constant__ unsigned int diagonalStart[MAX_DIAGONALS + 1];

__global__ void spmvJds(float *out, const float *__restrict__ value, const unsigned int *__restrict__ column,
                        const unsigned int *__restrict__ permutation, const float *__restrict__ vector, int rows, int diagonals)
{
    unsigned int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;

    float sum = 0.0f;
    for (int k = 0; k < diagonals; ++k) {
        unsigned int start = diagonalStart[k];
        if (row >= diagonalStart[k + 1] - start)
            break;
        sum += value[start + row] * vector[column[start + row]];
    }
    out[permutation[row]] = sum;
}
