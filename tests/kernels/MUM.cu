// Exact matches of short strings in a long one: each thread goes through a suffix tree of the long string with a string of its own,
// and finds for each of its positions the longest match that begins there. From one position to the next it follows a suffix link,
// so that it does not begin at the root again. Trees are read at random, and threads go different ways.
// After MUM of GPGPU-Sim (mummergpuKernel, MUMmerGPU; 256 threads): sharing thesis tables 2.1 and 4.3.
struct Node {
    int child[4];    // by the first letter of the edge to it; 0: none
    int start, stop; // the edge that leads here, in the text
    int depth;       // letters from the root
    int link;        // the node of the same letters without the first one
};

struct Match {
    int place, letters;
};

// Queries are [letters][queries], so that neighbours are read together.
__global__ void mummergpu(const Node *node, const unsigned char *text, const unsigned char *query, Match *match, int queries,
                          int letters, int fewest)
{
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= queries)
        return;

    int here = 0;
    for (int first = 0; first + fewest <= letters; ++first) {
        int at = first + node[here].depth;
        int place = node[here].stop;
        bool fits = true;
        while (fits && at < letters) {
            int next = node[here].child[query[at * queries + number]];
            if (next == 0)
                break;
            place = node[next].start;
            int stop = node[next].stop;
            while (place < stop && at < letters && text[place] == query[at * queries + number]) {
                ++place;
                ++at;
            }
            fits = place == stop;
            if (fits)
                here = next;
        }

        int found = at - first;
        if (found >= fewest)
            match[first * queries + number] = {place - found, found};
        here = node[here].link;
    }
}
