// Atomic operations on 64 bits, in global and in shared memory, through pointers of both kinds. What is left does not depend on the order of the threads.
#define THREADS 32
typedef unsigned long long Wide;

// Multiplies a cell modulo 2^64, by compare and swap; the order does not matter.
__device__ void multiply(Wide *cell, Wide by)
{
    Wide seen = atomicAdd(cell, 0), expected;
    do {
        expected = seen;
        seen = atomicCAS(cell, expected, expected * by);
    } while (seen != expected);
}

__global__ void gather(const Wide *given, Wide *cells, Wide *returned, int count)
{
    __shared__ Wide here[8];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x < 8)
        here[threadIdx.x] = threadIdx.x == 1 ? ~0ull : threadIdx.x == 5 ? 1 : 0;
    __syncthreads();
    if (i < count) {
        Wide x = given[i];
        // Of all that is put in and taken out, what remains is in the cell.
        atomicAdd(&returned[0], atomicExch(&cells[0], x));
        atomicMax((long long *)&cells[1], (long long)x);
        atomicMin((long long *)&cells[2], (long long)x);
        atomicMax(&cells[3], x);
        atomicMin(&cells[4], x);
        multiply(&cells[5], x | 1);
        // Each thread sees a number of its own, from 0 on.
        Wide ticket = atomicAdd(&cells[6], 0x100000001ull);
        atomicAdd(&returned[1], ticket * ticket);
        atomicXor(&cells[7], x);
        atomicAdd(&here[0], x);
        atomicMin(&here[1], x);
        atomicMax(&here[2], x);
        atomicAnd(&cells[8], x | 0xffff0000ffffull);
        atomicOr(&here[4], x & 0xff00000000ull);
        // One lane in two goes to shared memory, through a pointer that does not say so.
        Wide *either = i & 1 ? &here[5] : &cells[9];
        multiply(either, x | 1);
    }
    __syncthreads();
    if (threadIdx.x < 8)
        returned[2 + 8 * blockIdx.x + threadIdx.x] = here[threadIdx.x];
}

__global__ void settle(Wide *cells, Wide *returned)
{
    returned[0] += cells[0];
    cells[0] = 0;
}
