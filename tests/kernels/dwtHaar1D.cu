// The Haar wavelet transform of a signal: sums and differences of neighbours, level by level. A block has a piece of twice its
// threads; the sums stay in shared memory for the next level, the differences are written. Half the threads drop out a level.
// After dwtHaar1D of the CUDA SDK: hierarchy thesis table 4.2.
__global__ void dwtHaar1D(float *details, float *approximation, const float2 *signal, int levels)
{
    extern __shared__ float sums[];
    const float halfRoot = 0.70710678118654752f;

    int pairs = blockDim.x * gridDim.x;
    int pair = blockIdx.x * blockDim.x + threadIdx.x;

    float2 value = signal[pair];
    details[pairs + pair] = (value.x - value.y) * halfRoot;
    sums[threadIdx.x] = (value.x + value.y) * halfRoot;
    __syncthreads();

    // Level l leaves pairs >> l differences, at pairs >> l of the output.
    int active = blockDim.x;
    for (int level = 1; level < levels; ++level) {
        active >>= 1;
        pairs >>= 1;
        float sum = 0.0f;
        if (threadIdx.x < active) {
            float a = sums[2 * threadIdx.x], b = sums[2 * threadIdx.x + 1];
            details[pairs + blockIdx.x * active + threadIdx.x] = (a - b) * halfRoot;
            sum = (a + b) * halfRoot;
        }
        __syncthreads();
        if (threadIdx.x < active)
            sums[threadIdx.x] = sum;
        __syncthreads();
    }

    if (threadIdx.x < active)
        approximation[blockIdx.x * active + threadIdx.x] = sums[threadIdx.x];
}
