// c = a + b, element by element. Coalesced, no reuse: bound by memory.
// After vectorAdd of the CUDA SDK: hierarchy thesis tables 4.2 and 4.3, hybrid paper 6.1, sharing thesis table 4.3.
__global__ void vectorAdd(const float *a, const float *b, float *c, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}
