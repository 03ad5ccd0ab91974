// Sobol's quasi-random numbers, one dimension a row of the grid. Each thread starts at a point of its own, from the Gray code of
// its index, and then strides by a power of two, which changes just two bits of the code. Integer logic and bit scans.
// After SobolQRNG of the CUDA SDK: hierarchy thesis tables 4.2 and 4.3, hybrid paper 6.1.
constexpr int DIRECTIONS = 32;

__global__ void sobolQRNG(float *out, const unsigned int *directions, unsigned int vectors)
{
    __shared__ unsigned int v[DIRECTIONS];

    const unsigned int *dimension = directions + DIRECTIONS * blockIdx.y;
    out += vectors * blockIdx.y;
    if (threadIdx.x < DIRECTIONS)
        v[threadIdx.x] = dimension[threadIdx.x];
    __syncthreads();

    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int stride = gridDim.x * blockDim.x;
    unsigned int gray = i ^ (i >> 1);
    unsigned int x = 0;
    for (unsigned int k = 0; k < __ffs(stride) - 1; ++k)
        if (gray & (1u << k))
            x ^= v[k];
    // The bits from the stride upwards; often none is set.
    for (unsigned int high = gray & ~(stride - 1); high; high &= high - 1)
        x ^= v[__ffs(high) - 1];

    if (i < vectors)
        out[i] = x * (1.0f / 4294967296.0f);

    unsigned int low = v[__ffs(stride) - 2];
    for (i += stride; i < vectors; i += stride) {
        // From i - stride to i: the bit below the stride, and the lowest zero of i - 1 at or above it.
        x ^= low ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
        out[i] = x * (1.0f / 4294967296.0f);
    }
}
