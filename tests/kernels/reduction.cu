// The sum of an array in two launches: every block leaves one partial sum, one block adds those. Each thread first walks the
// array with the stride of the grid; then a tree in dynamic shared memory, and shuffles within the last warp.
// After reduction of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1.
template <unsigned int blockSize>
__global__ void reduce(const float *in, float *out, unsigned int n)
{
    extern __shared__ float partial[];
    unsigned int tid = threadIdx.x;
    unsigned int stride = blockSize * 2 * gridDim.x;
    float sum = 0.0f;

    for (unsigned int i = blockIdx.x * blockSize * 2 + tid; i < n; i += stride) {
        sum += in[i];
        if (i + blockSize < n)
            sum += in[i + blockSize];
    }
    partial[tid] = sum;
    __syncthreads();

    if (blockSize >= 256) {
        if (tid < 128)
            partial[tid] = sum = sum + partial[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64)
            partial[tid] = sum = sum + partial[tid + 64];
        __syncthreads();
    }
    if (tid < 32) {
        if (blockSize >= 64)
            sum += partial[tid + 32];
        for (int offset = warpSize / 2; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, offset);
    }
    if (tid == 0)
        out[blockIdx.x] = sum;
}

template __global__ void reduce<256>(const float *, float *, unsigned int);
template __global__ void reduce<64>(const float *, float *, unsigned int);
