// Integers only: a histogram whose results are variables of the module. The bounds of its classes are in constant memory, the counts in managed memory,
// the table that a class is looked up in is in global memory, in a namespace, and the last block leaves the sum of all in a variable. Not after a paper.
__constant__ unsigned bounds[8];
__managed__ unsigned counts[8] = {100, 0, 0, 0, 0, 0, 0, 1};

namespace state {
    __device__ unsigned ticket;
    __device__ unsigned long long total;
    __device__ unsigned weights[8] = {1, 2, 3, 5, 7, 11, 13, 17};
}

__global__ void classify(const unsigned *data, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int k = 0;
        while (k < 7 && data[i] >= bounds[k])
            k++;
        atomicAdd(&counts[k], state::weights[k]);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&state::ticket, 1u) == gridDim.x - 1) {
        unsigned long long sum = 0;
        for (int k = 0; k < 8; k++)
            sum += *(volatile unsigned *)&counts[k];
        state::total = sum;
    }
}
