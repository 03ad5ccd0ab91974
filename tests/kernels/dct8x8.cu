// The heart of JPEG: the discrete cosine transform of 8 x 8 tiles, quantisation of the coefficients to 16-bit integers, and the
// way back. Each block has several tiles (threadIdx.z); tiles pass through shared memory, the matrix is in constant memory.
// After dct8x8 of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1.
constexpr int N = 8;
constexpr int TILES = 4;

// The orthonormal DCT-II matrix, by rows of frequency; filled by the host.
__constant__ float basis[N * N];
// JPEG's example table for luminance (ITU T.81, table K.1).
__constant__ unsigned char quantum[N * N] = {
    16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,
    14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,
    18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,
    49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
};

__global__ void dctForward(short *coefficients, const unsigned char *image, int width)
{
    __shared__ float pixel[TILES][N][N];
    __shared__ float half[TILES][N][N];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int x = (blockIdx.x * TILES + tz) * N + tx;
    int y = blockIdx.y * N + ty;

    pixel[tz][ty][tx] = (float)image[y * width + x] - 128.0f;
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i)
        sum += basis[ty * N + i] * pixel[tz][i][tx];
    half[tz][ty][tx] = sum;
    __syncthreads();

    sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i)
        sum += half[tz][ty][i] * basis[tx * N + i];

    coefficients[y * width + x] = (short)rintf(sum / quantum[ty * N + tx]);
}

__global__ void dctInverse(unsigned char *image, const short *coefficients, int width)
{
    __shared__ float frequency[TILES][N][N];
    __shared__ float half[TILES][N][N];
    int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    int x = (blockIdx.x * TILES + tz) * N + tx;
    int y = blockIdx.y * N + ty;

    short quantised = coefficients[y * width + x];
    frequency[tz][ty][tx] = quantised * quantum[ty * N + tx];
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i)
        sum += basis[i * N + ty] * frequency[tz][i][tx];
    half[tz][ty][tx] = sum;
    __syncthreads();

    sum = 0.0f;
#pragma unroll
    for (int i = 0; i < N; ++i)
        sum += half[tz][ty][i] * basis[i * N + tx];

    int level = __float2int_rn(sum) + 128;
    image[y * width + x] = (unsigned char)min(max(level, 0), 255);
}
