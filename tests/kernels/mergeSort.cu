// A stable merge sort of key-value pairs: an element's place in the merged run is its own index plus its rank in the sibling
// run, found by binary search. First within blocks in shared memory, then run by run over global memory. Divergent searches
// and scattered stores.
// After mergeSort of the CUDA SDK: hierarchy thesis table 4.2, hybrid paper 6.1.
typedef unsigned int uint;

constexpr uint RUN = 128;

// How many of the `length` sorted keys are less than `key` (or not greater, if inclusive).
template <bool inclusive>
__device__ uint rank(uint key, const uint *sorted, uint length)
{
    uint low = 0, high = length;
    while (low < high) {
        uint middle = (low + high) / 2;
        if (inclusive ? sorted[middle] <= key : sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Sorts runs of RUN pairs, one a block of RUN / 2 threads.
__global__ void mergeSortShared(uint *keys, uint *values)
{
    __shared__ uint key[RUN];
    __shared__ uint value[RUN];
    uint base = blockIdx.x * RUN;
    uint first = threadIdx.x;

    key[first] = keys[base + first];
    value[first] = values[base + first];
    key[first + RUN / 2] = keys[base + first + RUN / 2];
    value[first + RUN / 2] = values[base + first + RUN / 2];

    for (uint stride = 1; stride < RUN; stride <<= 1) {
        uint offset = threadIdx.x & (stride - 1);
        uint *pairKey = key + 2 * (threadIdx.x - offset);
        uint *pairValue = value + 2 * (threadIdx.x - offset);

        __syncthreads();
        uint keyA = pairKey[offset], valueA = pairValue[offset];
        uint keyB = pairKey[offset + stride], valueB = pairValue[offset + stride];
        uint placeA = rank<false>(keyA, pairKey + stride, stride) + offset;
        uint placeB = rank<true>(keyB, pairKey, stride) + offset;

        __syncthreads();
        pairKey[placeA] = keyA;
        pairValue[placeA] = valueA;
        pairKey[placeB] = keyB;
        pairValue[placeB] = valueB;
    }

    __syncthreads();
    keys[base + first] = key[first];
    values[base + first] = value[first];
    keys[base + first + RUN / 2] = key[first + RUN / 2];
    values[base + first + RUN / 2] = value[first + RUN / 2];
}

// Merges neighbouring runs of `run` pairs. One thread an element.
__global__ void mergeGlobal(uint *outKeys, uint *outValues, const uint *inKeys, const uint *inValues, uint n, uint run)
{
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;

    uint index = i & (run - 1);
    uint pair = i & ~(2 * run - 1);
    bool second = (i & run) != 0;
    uint key = inKeys[i];
    uint place = second ? rank<true>(key, inKeys + pair, run) : rank<false>(key, inKeys + pair + run, run);
    outKeys[pair + index + place] = key;
    outValues[pair + index + place] = inValues[i];
}
