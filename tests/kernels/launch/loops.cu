// Integers only: what host programs do in loops. Elimination modulo a prime, whose grid shrinks column by column; a sum of all numbers up to each, whose
// distance doubles while two buffers change places; and a search that goes on until nothing changes, two launches in each round.
// After the loops of gaussian, pathfinder and bfs of Rodinia.
#define PRIME 65521u

__device__ unsigned inverse(unsigned x)
{
    unsigned result = 1;
    for (unsigned power = PRIME - 2; power; power >>= 1) {
        if (power & 1)
            result = result * x % PRIME;
        x = x * x % PRIME;
    }
    return result;
}

__global__ void multipliers(unsigned *factor, const unsigned *a, int size, int step)
{
    int row = step + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (row < size)
        factor[row] = a[row * size + step] * inverse(a[step * size + step]) % PRIME;
}

__global__ void eliminate(unsigned *a, const unsigned *factor, int size, int step)
{
    int column = step + blockIdx.x * blockDim.x + threadIdx.x;
    int row = step + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (row < size && column < size)
        a[row * size + column] = (a[row * size + column] + (PRIME - factor[row]) * a[step * size + column]) % PRIME;
}

__global__ void add_distant(unsigned *to, const unsigned *from, unsigned distance, int count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i] + (i >= distance ? from[i - distance] : 0);
}

__global__ void propose(const unsigned *label, unsigned *proposal, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    unsigned best = label[y * width + x];
    if (best) {
        if (x > 0)
            best = max(best, label[y * width + x - 1]);
        if (x < width - 1)
            best = max(best, label[y * width + x + 1]);
        if (y > 0)
            best = max(best, label[(y - 1) * width + x]);
        if (y < height - 1)
            best = max(best, label[(y + 1) * width + x]);
    }
    proposal[y * width + x] = best;
}

__global__ void accept(unsigned *label, const unsigned *proposal, unsigned *changed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (label[i] != proposal[i]) {
        label[i] = proposal[i];
        *changed = 1;
    }
}
