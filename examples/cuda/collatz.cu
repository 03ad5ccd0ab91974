// Lengths of Collatz sequences; threads that find a long one print it.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.h"

__host__ __device__ int length(unsigned number) {
    int steps = 0;
    for (; number != 1; steps++) number = number % 2 ? 3 * number + 1 : number / 2;
    return steps;
}

__global__ void lengths(int *steps, int count, int long_one) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    steps[i] = length(i + 1);
    if (steps[i] >= long_one) printf("  %u takes %d steps (%.1f for each bit)\n", i + 1, steps[i], steps[i] / (32.0f - __clz(i + 1)));
}

int main(int argc, char **argv) {
    int count = argc > 1 ? std::atoi(argv[1]) : 256;
    int *steps;
    CHECK(cudaMallocManaged(&steps, count * sizeof(int)));
    lengths<<<(count + 63) / 64, 64>>>(steps, count, 120);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    bool right = true;
    for (int i = 0; i < count; i++) right = right && steps[i] == length(i + 1);
    CHECK(cudaFree(steps));
    std::printf("collatz: %d numbers: %s\n", count, right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
