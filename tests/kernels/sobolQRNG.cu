// Sobol's quasi-random numbers, one dimension a row of the grid: a number is the exclusive or of the direction numbers of the
// bits in its index' Gray code. A thread makes its first number so; to go on by a stride it applies only the bits that change.
// Integer logic, bit scans, short divergent loops.
// After SobolQRNG of the CUDA SDK: hierarchy thesis tables 4.2 and 4.3, hybrid paper 6.1.
constexpr int DIRECTIONS = 32;

__device__ inline unsigned int gray(unsigned int i) { return i ^ (i >> 1); }

// x with the direction numbers of all set bits applied.
__device__ inline unsigned int apply(unsigned int x, unsigned int bits, const unsigned int *direction)
{
    while (bits != 0) {
        x ^= direction[__ffs(bits) - 1];
        bits &= bits - 1;
    }
    return x;
}

__global__ void sobolQRNG(float *out, const unsigned int *directions, unsigned int vectors)
{
    __shared__ unsigned int direction[DIRECTIONS];

    if (threadIdx.x < DIRECTIONS)
        direction[threadIdx.x] = directions[blockIdx.y * DIRECTIONS + threadIdx.x];
    __syncthreads();

    unsigned int stride = gridDim.x * blockDim.x;
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned int x = apply(0, gray(i), direction);
    while (i < vectors) {
        out[blockIdx.y * vectors + i] = x * (1.0f / 4294967296.0f);
        x = apply(x, gray(i) ^ gray(i + stride), direction);
        i += stride;
    }
}
