// A histogram of bytes in memory that host and device share: a template, a constant, a variable of the device, a stream, occupancy.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "check.h"

__constant__ int weights[4];
__device__ unsigned visited;
__managed__ unsigned sums[4];

template <int BINS> __global__ void histogram(const unsigned char *text, int length, unsigned *bins) {
    __shared__ unsigned own[BINS];
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) own[bin] = 0;
    __syncthreads();
    int step = gridDim.x * blockDim.x;
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < length; at += step) {
        atomicAdd(&own[text[at] % BINS], 1u);
        atomicAdd(&visited, 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        atomicAdd(&bins[bin], own[bin]);
        atomicAdd(&sums[bin % 4], own[bin] * weights[bin % 4]);
    }
}

int main(int argc, char **argv) {
    const int length = argc > 1 ? std::atoi(argv[1]) : 5000;
    unsigned char *text;
    unsigned *bins, expected[64] = {0}, expected_sums[4] = {0}, count = 0;
    int factors[4] = {1, 10, 100, 1000}, blocks = 0, multiprocessors = 0;
    CHECK(cudaMallocHost(&text, length));
    CHECK(cudaMallocManaged(&bins, sizeof expected));
    for (int at = 0; at < length; at++) {
        text[at] = (unsigned char)(at * 7 + at / 50);
        expected[text[at] % 64]++;
    }
    for (int bin = 0; bin < 64; bin++) expected_sums[bin % 4] += expected[bin] * factors[bin % 4];
    std::memset(bins, 0, sizeof expected);
    CHECK(cudaMemcpyToSymbol(weights, factors, sizeof factors));

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, histogram<64>, 128, 0));
    CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    int grid = blocks * multiprocessors;
    if (grid <= 0) return 1;
    histogram<64><<<grid, 128, 0, stream>>>(text, length, bins);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaMemcpyFromSymbol(&count, visited, sizeof count));

    bool right = std::memcmp(bins, expected, sizeof expected) == 0 && count == (unsigned)length;
    for (int k = 0; k < 4; k++) right = right && sums[k] == expected_sums[k];
    CHECK(cudaFreeHost(text));
    CHECK(cudaFree(bins));
    std::printf("histogram: %d bytes: %s\n", length, right ? "PASSED" : "FAILED");
    return right ? 0 : 1;
}
