// Ranges of records in a B+ tree: a block for each query, a thread for each key of a node. On the way down, the thread whose keys
// surround the query's bound says which child is next; in the leaves, the thread whose key is the bound says which record it is.
// The first launch builds the tree, a block for each node.
// After b+tree of Rodinia (findRangeK, 508 threads): sharing thesis table 2.1.
constexpr int NONE = 0x7fffffff;  // the key of a slot that is not used, larger than all others

// Children of an inner node are nodes, those of a leaf records. The last key has no child.
template <int ORDER>
struct Node {
    int key[ORDER + 1];
    int child[ORDER + 1];
};

// Keys rise by one or by three from record to record.
__device__ int keyOf(int record)
{
    return 2 * record + ((record * 0x9e3779b1u) >> 31);
}

// Levels of inner nodes with `fanout` children each, and leaves of `records` records. Nodes are numbered level by level.
template <int ORDER>
__global__ void buildTree(Node<ORDER> *node, int levels, int fanout, int records)
{
    int number = blockIdx.x, slot = threadIdx.x;
    int below = records;  // records behind a child
    for (int level = 1; level < levels; ++level)
        below *= fanout;

    int first = 0, nodes = 1, level = 0;
    while (number >= first + nodes) {
        first += nodes;
        nodes *= fanout;
        below = ++level < levels ? below / fanout : 1;
    }
    bool leaf = level == levels;
    int used = leaf ? records : fanout;
    int record = ((number - first) * used + slot) * below;

    node[number].key[slot] = slot < used ? keyOf(record) : NONE;
    node[number].child[slot] = leaf ? record : number * fanout + 1 + slot;
    if (slot == 0) {
        node[number].key[ORDER] = NONE;
        node[number].child[ORDER] = 0;
    }
}

// Where a query is on its way to both bounds: nodes, and the ones that follow them. It begins at the root.
struct Way {
    int lower, upper, nextLower, nextUpper;
};

struct Range {
    int first, length;
};

template <int ORDER>
__global__ void findRangeK(const Node<ORDER> *node, int nodes, int levels, Way *way, const int *start, const int *end,
                           Range *range)
{
    int slot = threadIdx.x;
    way += blockIdx.x;
    range += blockIdx.x;
    int from = start[blockIdx.x], to = end[blockIdx.x];

#pragma unroll 1
    for (int level = 0; level < levels; ++level) {
        const Node<ORDER> &low = node[way->lower];
        if (low.key[slot] <= from && low.key[slot + 1] > from) {
            if (low.child[slot] < nodes)
                way->nextLower = low.child[slot];
        }
        const Node<ORDER> &high = node[way->upper];
        if (high.key[slot] <= to && high.key[slot + 1] > to) {
            if (high.child[slot] < nodes)
                way->nextUpper = high.child[slot];
        }
        __syncthreads();
        if (slot == 0) {
            way->lower = way->nextLower;
            way->upper = way->nextUpper;
        }
        __syncthreads();
    }

    // A bound that is no key of a record leaves the result as it is.
    const Node<ORDER> &low = node[way->lower];
    if (low.key[slot] == from)
        range->first = low.child[slot];
    __syncthreads();
    const Node<ORDER> &high = node[way->upper];
    if (high.key[slot] == to)
        range->length = high.child[slot] - range->first + 1;
}

template __global__ void buildTree<124>(Node<124> *, int, int, int);
template __global__ void buildTree<508>(Node<508> *, int, int, int);
template __global__ void findRangeK<124>(const Node<124> *, int, int, Way *, const int *, const int *, Range *);
template __global__ void findRangeK<508>(const Node<508> *, int, int, Way *, const int *, const int *, Range *);
