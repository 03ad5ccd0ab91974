// Quasi-random numbers after Niederreiter: a number is the exclusive or of one table entry for each bit of its index. One
// dimension a row of the block; the tables are in constant memory. Long unrolled logic.
// After quasirandomGenerator of the CUDA SDK: hybrid paper 6.1.
constexpr int DIMENSIONS = 3;
constexpr int BITS = 31;

__constant__ unsigned int table[DIMENSIONS][BITS];

__global__ void quasirandomGenerator(float *out, unsigned int seed, unsigned int n)
{
    unsigned int *row = &table[threadIdx.y][0];
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned int index = seed + i;
        unsigned int result = 0;
#pragma unroll
        for (int bit = 0; bit < BITS; ++bit, index >>= 1)
            result ^= (index & 1) * row[bit];
        out[threadIdx.y * n + i] = (result + 1) * (1.0f / 2147483648.0f);
    }
}
