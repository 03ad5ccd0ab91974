// Dot products of many pairs of vectors, one pair a thread block. The block first fills more accumulators in shared memory
// than it has threads, each from a strided slice of the pair, and then adds them up in a tree.
// After scalarProd of the CUDA SDK: hierarchy thesis tables 4.2 and 4.3, hybrid paper 6.1, sharing thesis tables 3.8 and 4.3.
constexpr int ACCUMULATORS = 256;

__global__ void scalarProd(const float *a, const float *b, float *product, int vectors, int elements)
{
    __shared__ float sum[ACCUMULATORS];

    for (int vector = blockIdx.x; vector < vectors; vector += gridDim.x) {
        const float *va = a + vector * elements;
        const float *vb = b + vector * elements;

        for (int i = threadIdx.x; i < ACCUMULATORS; i += blockDim.x) {
            float s = 0.0f;
            for (int j = i; j < elements; j += ACCUMULATORS)
                s += va[j] * vb[j];
            sum[i] = s;
        }

        for (int stride = ACCUMULATORS / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            for (int i = threadIdx.x; i < stride; i += blockDim.x)
                sum[i] += sum[i + stride];
        }

        if (threadIdx.x == 0)
            product[vector] = sum[0];
        // The next vector reuses the accumulators.
        __syncthreads();
    }
}
