// How many of the first numbers are smaller than each number. Threads without a number of their own count too, with a
// variable that they have not written, and drop the result: right CUDA, and a register that is live at the kernel's entry.
__global__ void census(const float *x, int *y, int n, int first)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v;
    if (i < n)
        v = x[i];
    int c = 0;
    for (int j = 0; j < first; ++j)
        if (v > x[j])
            c++;
    if (i < n)
        y[i] = c;
}
