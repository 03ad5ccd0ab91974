// Breadth-first search, one level a launch, until a level finds nothing new: each thread has a node and, if that was reached in
// the last level, visits its neighbours. Irregular loads, divergent loops; a vote spares most stores to the flag.
// After bfs of Rodinia and GPGPU-Sim: hierarchy thesis table 4.3, hybrid paper 6.1, sharing thesis tables 2.4 and 4.3.
constexpr int UNREACHED = -1;

__global__ void bfsStart(int *level, int nodes, int source)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nodes)
        level[i] = i == source ? 0 : UNREACHED;
}

// A node's edges are `degree` entries of `edge`, from `firstEdge` on.
__global__ void bfsLevel(const unsigned int *firstEdge, const unsigned int *degree, const int *edge, int *level, int *found,
                         int nodes, int current)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool any = false;
    if (i < nodes && level[i] == current) {
        unsigned int first = firstEdge[i];
        for (unsigned int e = first; e < first + degree[i]; ++e) {
            int neighbour = edge[e];
            // Several threads may write the same level: that does no harm.
            if (level[neighbour] == UNREACHED) {
                level[neighbour] = current + 1;
                any = true;
            }
        }
    }
    if (__any_sync(0xffffffff, any) && threadIdx.x % warpSize == 0)
        *found = 1;
}
