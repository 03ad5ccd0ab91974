// One pass of k-means clustering: each point goes to the nearest centre; points per cluster and sums of their features are
// gathered for the next centres, and the points that changed their cluster are counted. Features lie one after the other, so
// that loads are coalesced; centres are in constant memory; sums by atomics in shared, then global memory.
// After kmeans of Rodinia: hybrid paper 6.1.
constexpr int MAX_CLUSTERS = 8;
constexpr int FEATURES = 6;

__constant__ float centre[MAX_CLUSTERS * FEATURES];

__global__ void kmeans(const float *features, int *membership, float *sums, int *members, unsigned int *changed, int points,
                       int clusters)
{
    __shared__ float blockSums[MAX_CLUSTERS * FEATURES];
    __shared__ int blockMembers[MAX_CLUSTERS];
    for (int i = threadIdx.x; i < clusters * FEATURES; i += blockDim.x)
        blockSums[i] = 0.0f;
    if (threadIdx.x < clusters)
        blockMembers[threadIdx.x] = 0;
    __syncthreads();

    int point = blockIdx.x * blockDim.x + threadIdx.x;
    bool moved = false;
    if (point < points) {
        float own[FEATURES];
        for (int f = 0; f < FEATURES; ++f)
            own[f] = features[f * points + point];

        int nearest = 0;
        float least = 3.402823466e38f;
        for (int c = 0; c < clusters; ++c) {
            float distance = 0.0f;
            for (int f = 0; f < FEATURES; ++f) {
                float d = own[f] - centre[c * FEATURES + f];
                distance += d * d;
            }
            if (distance < least) {
                least = distance;
                nearest = c;
            }
        }

        moved = membership[point] != nearest;
        membership[point] = nearest;
        atomicAdd(&blockMembers[nearest], 1);
        for (int f = 0; f < FEATURES; ++f)
            atomicAdd(&blockSums[nearest * FEATURES + f], own[f]);
    }

    unsigned int movers = __ballot_sync(0xffffffff, moved);
    if (threadIdx.x % warpSize == 0 && movers != 0)
        atomicAdd(changed, __popc(movers));

    __syncthreads();
    for (int i = threadIdx.x; i < clusters * FEATURES; i += blockDim.x)
        atomicAdd(&sums[i], blockSums[i]);
    if (threadIdx.x < clusters)
        atomicAdd(&members[threadIdx.x], blockMembers[threadIdx.x]);
}
