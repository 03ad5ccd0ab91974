// Integers only: looks words up in a hash table whose buckets are lists. The table is an array of pointers, a node has a pointer to the next one, and
// a second kernel sums rows that an array of pointers names. Not after a paper: pointers in memory as CUDA's programs have them.
struct Node {
    unsigned key;
    unsigned value;
    const Node *next;
};

__global__ void look_up(const Node *const *buckets, unsigned mask, const unsigned *keys, unsigned *found, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    unsigned key = keys[i], value = 0xffffffffu;
    for (const Node *node = buckets[(key ^ key >> 3) & mask]; node; node = node->next)
        if (node->key == key) {
            value = node->value;
            break;
        }
    found[i] = value;
}

__global__ void sum_rows(const unsigned *const *rows, int width, unsigned *sums)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int column = 0; column < width; column++)
        sum = sum * 31 + rows[row][column];
    sums[row] = sum;
}
