// C = A B with square tiles of both factors in shared memory; one thread an element of C. Every value that is loaded is used
// 16 times. Widths are multiples of the tile.
// After matrixMul of the CUDA SDK: hierarchy thesis tables 4.2 and 4.3.
constexpr int TILE = 16;

__global__ void matrixMul(float *c, const float *a, const float *b, int widthA, int widthB)
{
    __shared__ float tileA[TILE][TILE];
    __shared__ float tileB[TILE][TILE];

    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int k = 0; k < widthA; k += TILE) {
        tileA[ty][tx] = a[row * widthA + k + tx];
        tileB[ty][tx] = b[(k + ty) * widthB + column];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += tileA[ty][i] * tileB[i][tx];
        __syncthreads();
    }

    c[row * widthB + column] = sum;
}
