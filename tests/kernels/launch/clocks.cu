// Integers only: what CUDA code does with clocks. It times a chain of dependent instructions and a loop over shared memory, and waits for some time.
// Times differ from machine to machine, so that what is checked is what holds of all of them: time passes, an instruction takes a cycle at least, and
// the time goes on from launch to launch.
#define THREADS 64
#define TILE 64

__device__ unsigned long long now()
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

// Each step needs the one before, and stays where it stands.
__device__ unsigned step(unsigned x)
{
    x = x * 1664525u + 1013904223u;
    asm volatile("" : "+r"(x));
    return x;
}

__global__ void chain(unsigned *number, long long *elapsed, unsigned long long *stamp, unsigned *passed, int links)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = i;
    long long begin = clock64();
    for (int n = 0; n < links; n++)
        x = step(x);
    long long end = clock64();
    number[i] = x;
    elapsed[i] = end - begin;
    stamp[i] = now();
    passed[i] = end - begin >= links && stamp[i] > (unsigned long long)end;
}

__global__ void tile(unsigned *number, unsigned *elapsed, unsigned long long *stamp, unsigned *passed, int rounds)
{
    __shared__ unsigned cell[TILE];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, at = threadIdx.x;
    // The launch before has ended.
    unsigned long long before = stamp[(i + 17) % (gridDim.x * blockDim.x)], first = now();
    cell[at] = number[i];
    __syncthreads();
    clock_t begin = clock();
    for (int n = 0; n < rounds; n++) {
        unsigned x = cell[(at + n) % TILE] + cell[(at + 33) % TILE];
        __syncthreads();
        cell[at] = step(x);
        __syncthreads();
    }
    clock_t end = clock();
    number[i] = cell[at];
    // The lower word may run over.
    elapsed[i] = (unsigned)end - (unsigned)begin;
    passed[i] |= (elapsed[i] >= rounds * 4 && before < first) << 1;
}

__global__ void wait(unsigned *passed, unsigned *turns, int span)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    long long begin = clock64(), last = begin, time;
    bool forward = true;
    // Every other thread waits twice as long.
    do {
        time = clock64();
        forward &= time > last;
        last = time;
        count++;
    } while (time - begin < span << (i & 1));
    turns[i] = count;
    passed[i] |= (forward && count > 1) << 2;
}
