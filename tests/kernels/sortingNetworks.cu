// Sorts arrays of key-value pairs with Batcher's bitonic network: short runs in dynamic shared memory, longer ones with
// compare-exchange passes over global memory. Control flow does not depend on the data; there is a barrier for every step.
// After SortingNetworks of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1.
typedef unsigned int uint;

__device__ inline void compareExchange(uint &keyA, uint &valueA, uint &keyB, uint &valueB, uint ascending)
{
    if ((keyA > keyB) == ascending) {
        uint t;
        t = keyA; keyA = keyB; keyB = t;
        t = valueA; valueA = valueB; valueB = t;
    }
}

// Sorts runs of 2 blockDim pairs, one a block; even runs ascend, odd ones descend, as the merge passes want them.
__global__ void bitonicSortShared(uint *keys, uint *values, uint ascendingRuns)
{
    extern __shared__ uint shared[];
    uint run = 2 * blockDim.x;
    uint *key = shared;
    uint *value = shared + run;
    uint *runKeys = keys + blockIdx.x * run;
    uint *runValues = values + blockIdx.x * run;

    key[threadIdx.x] = runKeys[threadIdx.x];
    value[threadIdx.x] = runValues[threadIdx.x];
    key[threadIdx.x + blockDim.x] = runKeys[threadIdx.x + blockDim.x];
    value[threadIdx.x + blockDim.x] = runValues[threadIdx.x + blockDim.x];

    uint last = ascendingRuns ? 1 : (blockIdx.x + 1) & 1;
    for (uint size = 2; size <= run; size <<= 1) {
        uint ascending = size < run ? ((threadIdx.x & (size / 2)) == 0) : last;
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            compareExchange(key[pos], value[pos], key[pos + stride], value[pos + stride], ascending);
        }
    }

    __syncthreads();
    runKeys[threadIdx.x] = key[threadIdx.x];
    runValues[threadIdx.x] = value[threadIdx.x];
    runKeys[threadIdx.x + blockDim.x] = key[threadIdx.x + blockDim.x];
    runValues[threadIdx.x + blockDim.x] = value[threadIdx.x + blockDim.x];
}

// One step of a merge of `size` pairs, over global memory: compares pairs that are `stride` apart.
__global__ void bitonicMergeGlobal(uint *keys, uint *values, uint length, uint size, uint stride)
{
    uint comparator = blockIdx.x * blockDim.x + threadIdx.x;
    uint within = comparator & (length / 2 - 1);
    uint ascending = (within & (size / 2)) == 0;
    uint pos = 2 * comparator - (comparator & (stride - 1));

    uint keyA = keys[pos], valueA = values[pos];
    uint keyB = keys[pos + stride], valueB = values[pos + stride];
    compareExchange(keyA, valueA, keyB, valueB, ascending);
    keys[pos] = keyA;
    values[pos] = valueA;
    keys[pos + stride] = keyB;
    values[pos + stride] = valueB;
}
