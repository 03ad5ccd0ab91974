// Discrete cosine transforms of 8 x 8 tiles as two products of matrices: a block to a tile, a thread to a number.
// After the first transform of dct8x8 of the CUDA SDK (CUDAkernel1DCT, 64 threads): sharing thesis tables 3.4 and 4.3 (DCT5).
constexpr int N = 8;

// The orthonormal DCT-II matrix, by rows of frequency; filled by the host.
__constant__ float basis[N * N];

__global__ void dctOfTile(float *out, const float *in, int width)
{
    __shared__ float pixel[N][N], half[N][N];

    int tx = threadIdx.x, ty = threadIdx.y;
    int place = (blockIdx.y * N + ty) * width + blockIdx.x * N + tx;
    pixel[ty][tx] = in[place];
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i)
        sum += basis[ty * N + i] * pixel[i][tx];
    half[ty][tx] = sum;
    __syncthreads();

    sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i)
        sum += half[ty][i] * basis[tx * N + i];
    out[place] = sum;
}
