// List ranking after Wyllie: how far is it from each node to the end of its list? A node is one word of 64 bits, its successor above its distance to
// that. All threads jump over successors at once, and read words while others write them; a word that is read whole is right at any time.
#define END (-1)

__device__ __forceinline__ long long node(int successor, unsigned distance) {
    return (long long)successor << 32 | distance;
}

// A list through all nodes; their number is a power of two.
extern "C" __global__ void link(long long *list, int nodes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    int successor = (5 * i + 3) & (nodes - 1);
    list[i] = successor == 0 ? node(END, 0) : node(successor, 1);
}

template <typename List>
__device__ __forceinline__ void rank(List list, int nodes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    long long mine = list[i];
    while ((int)(mine >> 32) != END) {
        long long next = list[mine >> 32];
        mine = node((int)(next >> 32), (unsigned)mine + (unsigned)next);
        list[i] = mine;
    }
}

// Accesses that the PTX memory model calls strong.
extern "C" __global__ void rank_strong(volatile long long *list, int nodes) { rank(list, nodes); }

// The same with plain ones: a data race, which hardware forgives.
extern "C" __global__ void rank_weak(long long *list, int nodes) { rank(list, nodes); }
