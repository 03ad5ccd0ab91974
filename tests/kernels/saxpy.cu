// y = a x + y, one thread an element: the smallest kernel that does something. Coalesced, two loads and a store a thread.
// Not from a paper; it is the example of the launch manifest's page.
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}
